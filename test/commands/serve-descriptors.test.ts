import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { Agent, get } from 'node:http';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { capture, OpenConnection } from '../faults/client.ts';
import { siteForSuite } from '../support/for-suite.ts';
import { ground, serve } from './capstan-process.ts';
import { idleConnection } from './idle-connection.ts';

const DESCRIPTORS = 256;
const ARGS = ['--data-dir', 'data', '--db-path', 'r.db', '--allow-targets', '127.0.0.1', '--max-concurrent', '2'];
const TAKE_DESCRIPTORS = pathToFileURL(join(import.meta.dirname, 'take-descriptors.ts')).href;

describe('capstan serve with few file descriptors', () => {
  const site = siteForSuite();

  it('survives more idle connections than it has descriptors, and captures meanwhile', async () => {
    const place = await ground();
    const served = await serve(ARGS, { ...place.options, descriptors: DESCRIPTORS });
    const url = new URL(served.url);
    const first = await idleConnection(Number(url.port));
    const idle = [first];
    for (let count = 0; count < 2 * DESCRIPTORS; count += 1) idle.push(await idleConnection(Number(url.port)));
    const open = await readdir(`/proc/${served.child.pid}/fd`);
    expect(open.length).toBeLessThan(DESCRIPTORS * 0.9);

    const body = JSON.stringify({ url: site.url('/short') });
    const headers = `Host: localhost\r\nContent-Type: application/json\r\nContent-Length: ${body.length}`;
    first.write(`POST /screenshot HTTP/1.1\r\n${headers}\r\n\r\n${body}`);
    const [head] = await once(first, 'data');
    expect(String(head)).toMatch(/^HTTP\/1\.1 200 /);

    for (const socket of idle) socket.destroy();
    served.child.kill('SIGTERM');
    const { code, stderr } = await served.ended;
    expect(code).toBe(0);
    expect(stderr).toContain('fewer connections than --max-connections are accepted');
  });

  it('refuses captures as overload while no descriptor is free, and captures when descriptors are free again', async () => {
    const place = await ground();
    const env = { ...place.options.env, NODE_OPTIONS: `--import ${TAKE_DESCRIPTORS}` };
    const served = await serve(ARGS, { ...place.options, env, descriptors: DESCRIPTORS });
    // Connections that are open before: a new one needs a descriptor.
    using kept = new KeptConnection();
    const pressure = () => kept.getJson(`${served.url}/pressure`);
    await expect.poll(pressure).toMatchObject({ data: { accepting: true } });
    const port = Number(new URL(served.url).port);
    const [unending, refused] = [await idleConnection(port), await idleConnection(port)];
    // The timers that watch browsers run only during captures.
    const unended = new OpenConnection(unending).capture({ url: site.url('/hang') }).catch(() => undefined);
    await expect.poll(() => site.hits('/hang')).toBe(1);

    served.child.kill('SIGUSR2');
    const reason = expect.stringMatching(/of its file descriptors are open/);
    await expect.poll(pressure).toMatchObject({ data: { accepting: false, reason } });
    expect(await new OpenConnection(refused).capture({ url: site.url('/short') })).toMatchObject({
      status: 429,
      code: 'queue_full',
    });
    served.child.kill('SIGUSR2');
    await expect.poll(pressure).toMatchObject({ data: { accepting: true } });
    expect(await capture(served.url, { url: site.url('/short') })).toMatchObject({ status: 200, code: '' });

    for (const socket of [unending, refused]) socket.destroy();
    await unended;
    served.child.kill('SIGTERM');
    expect(await served.ended).toMatchObject({ code: 0 });
  });
});

/** Sends requests one after another over one connection. */
class KeptConnection implements Disposable {
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 });

  async getJson(url: string): Promise<unknown> {
    const [response] = await once(get(url, { agent: this.#agent }), 'response');
    return json(response);
  }

  [Symbol.dispose](): void {
    this.#agent.destroy();
  }
}
