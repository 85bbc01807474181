import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { siteForSuite } from '../support/for-suite.ts';
import { ground, serve } from './capstan-process.ts';
import { idleConnection } from './idle-connection.ts';

const DESCRIPTORS = 256;

describe('capstan serve with few file descriptors', () => {
  const site = siteForSuite();

  it('survives more idle connections than it has descriptors, and captures meanwhile', async () => {
    await using place = await ground();
    const args = ['--data-dir', 'data', '--db-path', 'r.db', '--allow-targets', '127.0.0.1', '--max-concurrent', '2'];
    const served = await serve(args, { ...place.options, descriptors: DESCRIPTORS });
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
});
