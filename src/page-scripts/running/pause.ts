import { web } from '../dom/web.ts';

/**
 * Resolves after this time in milliseconds. `AbortSignal.timeout` is the one timer that the page's scripts cannot
 * clear.
 */
export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => web.AbortSignal.timeout(Math.ceil(ms)).addEventListener('abort', resolve));
}
