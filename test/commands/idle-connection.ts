import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** Opens a connection without a request. Resolves when it is open; the server may close it at once. */
export async function idleConnection(port: number): Promise<Socket> {
  const socket = connect({ host: '127.0.0.1', port });
  socket.on('error', () => {});
  await once(socket, 'connect');
  return socket;
}
