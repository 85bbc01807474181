import { once } from 'node:events';
import { connect, type Socket, type TcpNetConnectOpts } from 'node:net';
import { onTestFinished } from 'vitest';

/** Opens a connection to a server, which is closed after the test. */
export async function dial(url: string, options: Partial<TcpNetConnectOpts> = {}): Promise<Socket> {
  const socket = connect({ port: Number(new URL(url).port), host: '127.0.0.1', ...options });
  onTestFinished(() => void socket.destroy());
  socket.on('error', () => {});
  await once(socket, 'connect');
  return socket;
}
