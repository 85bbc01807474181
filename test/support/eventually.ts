import { expect } from 'vitest';

/** Retries an expectation until it holds, for conditions without an event. The limit allows for a busy machine. */
export function eventually<T>(read: () => T) {
  return expect.poll(read, { interval: 20, timeout: 60_000 });
}
