import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * Returns the address of a browser that was started with `--remote-debugging-port=0`, which it writes into its profile.
 */
export async function debuggingAddressOf(profile: string): Promise<{ readonly host: string; readonly path: string }> {
  const [port, path = ''] = (await readFile(join(profile, 'DevToolsActivePort'), 'utf8')).split('\n');
  return { host: `127.0.0.1:${port}`, path };
}

/** Calls methods of the protocol, one after another, over a connection of its own. Returns the answers. */
export async function callOver(url: string, methods: readonly string[]): Promise<readonly unknown[]> {
  const socket = new WebSocket(url);
  try {
    await nextEvent(socket, 'open');
    const answers: unknown[] = [];
    for (const [id, method] of methods.entries()) {
      const answer = nextEvent(socket, 'message');
      socket.send(JSON.stringify({ id, method }));
      const event = await answer;
      answers.push(JSON.parse(event instanceof MessageEvent ? String(event.data) : 'null'));
    }
    return answers;
  } finally {
    const closed = nextEvent(socket, 'close');
    socket.close();
    await closed.catch(() => undefined);
  }
}

function nextEvent(socket: WebSocket, name: 'open' | 'message' | 'close'): Promise<Event> {
  return new Promise((resolve, reject) => {
    socket.addEventListener(name, resolve, { once: true });
    socket.addEventListener('error', () => reject(new Error('the browser does not answer')), { once: true });
  });
}
