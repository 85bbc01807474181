import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { mongoFailure } from '../../src/storage/mongo/failure.ts';
import { listening } from '../egress/listening.ts';

it('takes a write to a connection that the server has ended for a database that is away', async () => {
  const server = createServer((socket) => socket.end());
  const { port } = await listening(server);
  onTestFinished(() => void server.close());
  const socket = connect(port, '127.0.0.1').resume();
  await once(socket, 'end');
  const failed = once(socket, 'error');
  socket.write('a request');
  const [error] = await failed;
  expect(mongoFailure(error)).toMatchObject({ code: 'database_unavailable', cause: error });
});

it('takes an error of our own for a defect', () => {
  expect(mongoFailure(new TypeError('no function'))).toMatchObject({ code: 'internal' });
});
