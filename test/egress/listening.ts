import type { Server } from 'node:net';

/** Starts a server on a free port (or the given one). Disposing it closes its connections, too. */
export async function listening(server: Server, host = '127.0.0.1', port = 0): Promise<Listening> {
  const sockets = new Set<{ destroy(): void }>();
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.once('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new TypeError('not a port');
  return {
    port: address.port,
    async [Symbol.asyncDispose]() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

export interface Listening extends AsyncDisposable {
  readonly port: number;
}

/** Returns a lookup that resolves only the given names. */
export function namesOf(
  names: Readonly<Record<string, readonly string[]>>,
): (name: string) => Promise<readonly string[]> {
  return async (name) => {
    const addresses = names[name];
    if (!addresses) throw Object.assign(new Error(`getaddrinfo ENOTFOUND ${name}`), { code: 'ENOTFOUND' });
    return addresses;
  };
}
