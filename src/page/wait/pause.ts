/**
 * Runs in the page. Returns a promise that resolves after this time in milliseconds. `AbortSignal.timeout` is the one
 * timer that the page's scripts cannot clear.
 */
export const PAUSE = `(ms) => new Promise((resolve) => AbortSignal.timeout(Math.ceil(ms)).addEventListener('abort', resolve))`;
