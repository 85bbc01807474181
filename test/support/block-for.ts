/** Blocks the event loop for so many milliseconds, without taking CPU time. */
export function blockFor(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}
