import { web } from '../dom/web.ts';

/** Resolves with the next animation frame, which comes only to a document that the window shows. */
export function nextFrame(): Promise<void> {
  return new Promise((resolve) => web.requestAnimationFrame(() => resolve()));
}
