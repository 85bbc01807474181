import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** Listens and never accepts. */
const LISTEN = `
  const { createServer } = require('node:net');
  const server = createServer();
  server.listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => {
    process.stdout.write(String(server.address().port));
    setImmediate(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0));
  });
`;
/** Time after which a connection counts as unanswered, in milliseconds. Loopback answers at once. */
const UNANSWERED_MS = 500;

export interface SilentListener extends AsyncDisposable {
  /** A port of 127.0.0.1 that answers no connection: neither accepts nor refuses it. */
  readonly port: number;
}

/** Starts a listener whose backlog is full, in a process of its own. */
export async function startSilentListener(): Promise<SilentListener> {
  const child = spawn(process.execPath, ['-e', LISTEN], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [port] = await once(child.stdout, 'data');
  const filling: Socket[] = [];
  for (let isFull = false; !isFull; ) {
    const socket = connect({ host: '127.0.0.1', port: Number(port) });
    socket.on('error', () => {});
    filling.push(socket);
    const late = new Promise<true>((resolve) => setTimeout(resolve, UNANSWERED_MS, true));
    isFull = await Promise.race([late, once(socket, 'connect').then(() => false)]);
  }
  return {
    port: Number(port),
    async [Symbol.asyncDispose]() {
      for (const socket of filling) socket.destroy();
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    },
  };
}
