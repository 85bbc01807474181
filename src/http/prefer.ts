import type { HttpContext } from './state.ts';

/** Whether the client would rather not wait for the outcome (RFC 7240). Other preferences are none of ours. */
export function prefersAsync(ctx: HttpContext): boolean {
  return ctx
    .get('Prefer')
    .split(',')
    .some((preference) => /^respond-async\s*(?:;|$)/i.test(preference.trim()));
}
