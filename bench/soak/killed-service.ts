import type { ProcessFault } from './process-fault.ts';

/** Causes no fault of its own: every round ends with `kill -9`. */
export const killedService: ProcessFault = {
  name: 'kill -9',
  prepare: async () => ({ run: async () => undefined, [Symbol.asyncDispose]: async () => undefined }),
};
