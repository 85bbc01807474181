import { connect, createServer } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { type Listening, listening } from '../egress/listening.ts';

export interface SlowServer extends AsyncDisposable {
  /** `mongodb://127.0.0.1:<port>/` */
  readonly url: string;
}

/** Starts a proxy for a MongoDB server that delays the answer to the first `command` by `ms` milliseconds. */
export function startSlowServer(serverUrl: string, command: string, ms: number): Promise<SlowServer> {
  let slow = true;
  return behindGate(serverUrl, (request) => {
    if (!slow || !request.includes(command)) return undefined;
    slow = false;
    return delay(ms);
  });
}

/**
 * Starts a proxy that sends no more answers of a connection until what `gateOf` returns for a request of it resolves.
 */
async function behindGate(
  serverUrl: string,
  gateOf: (request: Buffer) => Promise<void> | undefined,
): Promise<SlowServer> {
  const { hostname, port } = new URL(serverUrl);
  const proxy = await listening(
    createServer((client) => {
      const server = connect({ host: hostname, port: Number(port) });
      let gate = Promise.resolve();
      client.on('data', (request) => {
        gate = gateOf(request) ?? gate;
        server.write(request);
      });
      server.on('data', async (answer) => {
        await gate;
        client.write(answer);
      });
      client.on('error', () => server.destroy());
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

export interface HoldingServer extends SlowServer {
  /** Keeps back what the server sends from the next `command` of each connection on. */
  hold(command: string): void;
  /** Sends what was kept back. */
  release(): void;
}

/** Starts a proxy for a MongoDB server whose answers can be kept back. */
export async function startHoldingServer(serverUrl: string): Promise<HoldingServer> {
  const released = Promise.withResolvers<void>();
  let held: string | undefined;
  const server = await behindGate(serverUrl, (request) =>
    held !== undefined && request.includes(held) ? released.promise : undefined,
  );
  return {
    ...server,
    hold: (command) => {
      held = command;
    },
    release: released.resolve,
  };
}

export interface LosingServer extends SlowServer {
  /** Accepts connections again. */
  restart(): Promise<void>;
}

/** Starts a proxy for a MongoDB server that is gone, with all its connections, when it is sent the first `command`. */
export async function startLosingServer(serverUrl: string, command: string): Promise<LosingServer> {
  const { hostname, port } = new URL(serverUrl);
  const open = (ownPort?: number): Promise<Listening> =>
    listening(
      createServer((client) => {
        const server = connect({ host: hostname, port: Number(port) });
        client.on('data', (request) => {
          if (ownPort === undefined && request.includes(command)) void proxy[Symbol.asyncDispose]();
          else server.write(request);
        });
        server.pipe(client);
        server.on('error', () => client.destroy());
        client.on('close', () => server.destroy());
      }),
      '127.0.0.1',
      ownPort,
    );
  let proxy = await open();
  return {
    url: `mongodb://127.0.0.1:${proxy.port}/`,
    async restart() {
      proxy = await open(proxy.port);
    },
    [Symbol.asyncDispose]: () => proxy[Symbol.asyncDispose](),
  };
}
