import { once } from 'node:events';
import { createServer, type Server } from 'node:net';

/** Returns a loopback port that no server listens on: one that was bound and released. */
export async function freePort(server: Server = createServer()): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new TypeError('the server has no port');
  return address.port;
}
