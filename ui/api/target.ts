import type { Result } from './types.ts';

/** Returns the target of a capture as a request names it: its URL, or nothing when it was made of HTML. */
export function requestedTarget({
  url,
  options,
  options_withheld,
}: Pick<Result, 'url' | 'options' | 'options_withheld'>): { readonly url?: string } {
  return 'html' in options || options_withheld.includes('html') ? {} : { url };
}
