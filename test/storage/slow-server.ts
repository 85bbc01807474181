import { connect, createServer } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { listening } from '../egress/listening.ts';

export interface SlowServer extends AsyncDisposable {
  /** `mongodb://127.0.0.1:<port>/` */
  readonly url: string;
}

/** Starts a proxy for a MongoDB server that delays the answer to the first `command` by `ms` milliseconds. */
export async function startSlowServer(serverUrl: string, command: string, ms: number): Promise<SlowServer> {
  const { hostname, port } = new URL(serverUrl);
  let slow = true;
  const proxy = await listening(
    createServer((client) => {
      const server = connect({ host: hostname, port: Number(port) });
      let held = Promise.resolve();
      client.on('data', (request) => {
        if (slow && request.includes(command)) {
          slow = false;
          held = delay(ms);
        }
        server.write(request);
      });
      server.on('data', async (answer) => {
        await held;
        client.write(answer);
      });
      server.on('error', () => client.destroy());
      server.on('close', () => client.destroy());
      client.on('close', () => server.destroy());
    }),
  );
  return {
    url: `mongodb://127.0.0.1:${proxy.port}/`,
    [Symbol.asyncDispose]: () => proxy[Symbol.asyncDispose](),
  };
}
