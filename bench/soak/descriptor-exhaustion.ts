import { idleConnection } from '../../test/commands/idle-connection.ts';
import { captureOver } from '../../test/faults/client.ts';
import { answering, CAPTURES_BESIDE, type ProcessFault } from './process-fault.ts';

/** Enough for 224 clients: the check before the fault leaves about 40 connections open, and captures need theirs. */
const DESCRIPTORS = 512;

/** More idle connections than the service has file descriptors. Captures go over connections that were open before. */
export const descriptorExhaustion: ProcessFault = {
  name: 'descriptor exhaustion',
  prepare: async ({ site }) => ({
    // Two concurrent captures leave room for clients under this limit.
    args: ['--max-concurrent', '2'],
    options: { descriptors: DESCRIPTORS },
    run: async (service, answers) => {
      const port = Number(new URL(service.url).port);
      const open = (count: number) => Promise.all(Array.from({ length: count }, () => idleConnection(port)));
      const [first, idle] = [await open(CAPTURES_BESIDE), await open(2 * DESCRIPTORS)];
      // At once: the service closes connections that have sent nothing for 15 s.
      await Promise.all(
        first.map(async (socket) => answers.note(await captureOver(socket, { url: site.url('/short') }))),
      );
      for (const socket of [...first, ...idle]) socket.destroy();
      await answering(service);
    },
    [Symbol.asyncDispose]: async () => undefined,
  }),
};
