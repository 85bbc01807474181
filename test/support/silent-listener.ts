import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { z } from 'zod';

/** Listens on each address of the arguments, and never accepts. */
const LISTEN = `
  const { createServer } = require('node:net');
  const listening = process.argv.slice(1).map((host) => new Promise((resolve) => {
    const server = createServer();
    server.listen({ port: 0, host, backlog: 1 }, () => resolve(server.address().port));
  }));
  Promise.all(listening).then((ports) => {
    process.stdout.write(JSON.stringify(ports));
    setImmediate(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0));
  });
`;
/** Time after which a connection counts as unanswered, in milliseconds. Loopback answers at once. */
const UNANSWERED_MS = 500;

export interface SilentListener extends AsyncDisposable {
  /** Addresses and ports that answer no connection: neither accept nor refuse it. */
  readonly targets: readonly [string, ...string[]];
}

/** Starts listeners whose backlogs are full, on these addresses of loopback, in a process of its own. */
export async function startSilentListener(hosts: readonly string[] = ['127.0.0.1']): Promise<SilentListener> {
  const child = spawn(process.execPath, ['-e', LISTEN, ...hosts], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [text] = await once(child.stdout, 'data');
  const ports = z.array(z.number()).parse(JSON.parse(String(text)));
  const filling: Socket[] = [];
  const fill = async (host: string, port: number): Promise<void> => {
    for (let isFull = false; !isFull; ) {
      const socket = connect({ host, port });
      socket.on('error', () => {});
      filling.push(socket);
      const late = new Promise<true>((resolve) => setTimeout(resolve, UNANSWERED_MS, true));
      isFull = await Promise.race([late, once(socket, 'connect').then(() => false)]);
    }
  };
  await Promise.all(hosts.map((host, at) => fill(host, ports[at] ?? 0)));
  const [first = '', ...others] = hosts.map((host, at) => `${host}:${ports[at]}`);
  return {
    targets: [first, ...others],
    async [Symbol.asyncDispose]() {
      for (const socket of filling) socket.destroy();
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    },
  };
}
