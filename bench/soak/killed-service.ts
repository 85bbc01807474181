import type { ProcessFault } from './process-fault.ts';

/** No fault but `kill -9`, which ends every round. */
export const killedService: ProcessFault = {
  name: 'kill -9',
  prepare: async () => ({ run: async () => undefined, [Symbol.asyncDispose]: async () => undefined }),
};
