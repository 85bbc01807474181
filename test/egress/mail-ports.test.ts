import { once } from 'node:events';
import { createServer } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Egress } from '../../src/egress/egress.ts';
import { receiverEgress } from '../receivers/receiver.ts';
import { listening } from './listening.ts';

const NEVER = new AbortController().signal;
let egress: Egress;

beforeAll(() => {
  egress = receiverEgress({ 'mail.test': ['127.0.0.1'], 'inside.test': ['10.0.0.1'] });
});
afterAll(() => egress.close());

describe('connections to mail servers', () => {
  it('connects to the address that was checked', async () => {
    await using server = await listening(
      createServer((socket) => socket.end('220 ready')),
      '127.0.0.1',
    );
    const socket = await egress.connectToMail({ host: 'mail.test', port: server.port }, NEVER);
    expect(await once(socket, 'data')).toEqual([Buffer.from('220 ready')]);
    socket.destroy();
  });

  it.each([25, 465, 587])('checks the address for port %i, which pages may not open', async (port) => {
    await expect(egress.connectToMail({ host: 'inside.test', port }, NEVER)).rejects.toMatchObject({
      code: 'target_forbidden',
      message: expect.stringContaining('resolves to an address that is'),
    });
    expect(egress.screenLiteral(new URL(`http://inside.test:${port}/`))).toMatchObject({ code: 'target_forbidden' });
  });

  it('refuses the ports of other services', async () => {
    const refused = egress.connectToMail({ host: 'mail.test', port: 22 }, NEVER);
    await expect(refused).rejects.toMatchObject({ code: 'target_forbidden' });
  });

  it('ends with the reason of its signal', async () => {
    const given = new AbortController();
    given.abort(new Error('the service stops'));
    await expect(egress.connectToMail({ host: 'mail.test', port: 25 }, given.signal)).rejects.toThrow(
      'the service stops',
    );
  });
});
