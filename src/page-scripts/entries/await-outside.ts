import { page, rootElementOf } from '../dom.ts';
import { web } from '../web.ts';

/** Resolves when the window does not show the document. */
export function run(): Promise<void> {
  return new Promise((resolve) => {
    const observer = new web.IntersectionObserver((entries) => {
      if (entries[0]?.isIntersecting !== false) return;
      observer.disconnect();
      resolve();
    });
    const root = rootElementOf(page);
    if (root !== null) observer.observe(root);
  });
}
