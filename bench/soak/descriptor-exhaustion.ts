import type { Socket } from 'node:net';
import { idleConnection } from '../../test/commands/idle-connection.ts';
import { OpenConnection, untilAccepted } from '../../test/faults/client.ts';
import { answering, CAPTURES_BESIDE, type ProcessFault } from './process-fault.ts';

/** Leaves 224 connections for clients; the check before the fault keeps about 40 of them. The rest is for captures. */
const DESCRIPTORS = 512;

/** Opens more idle connections than the service has file descriptors. Captures use connections opened before. */
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
      // All at once, because the service closes connections that have sent nothing for 15 s.
      const url = site.url('/short');
      const capture = async (socket: Socket) => {
        const connection = new OpenConnection(socket);
        answers.check(url, await untilAccepted(() => connection.capture({ url })));
      };
      await Promise.all(first.map(capture));
      for (const socket of [...first, ...idle]) socket.destroy();
      await answering(service);
    },
    [Symbol.asyncDispose]: async () => undefined,
  }),
};
