import { expect } from 'vitest';

/** An expectation that comes true some time, for what has no event to wait for. A busy machine takes its time. */
export function eventually<T>(read: () => T) {
  return expect.poll(read, { interval: 20, timeout: 20_000 });
}
