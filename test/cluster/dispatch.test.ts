import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { Served } from '../commands/capstan-process.ts';
import { capture, stats } from '../faults/client.ts';
import { forSuite, siteForSuite } from '../support/for-suite.ts';
import { clusterOf, clusterStats, serversForSuite, whyNoCluster } from './cluster-of-processes.ts';

const whyNot = await whyNoCluster();
const reason = whyNot === undefined ? '' : ` (skipped: ${whyNot})`;

describe.skipIf(whyNot !== undefined)(`a cluster${reason}`, () => {
  const site = siteForSuite();
  const servers = serversForSuite();
  const cluster = forSuite(
    () => clusterOf(servers, 'dispatch'),
    async (running) => running[Symbol.asyncDispose](),
  );
  let first: Served;
  let second: Served;
  let worker: Served;
  const file = (name: string) => join(cluster.place.path, name);
  const configure = (name: string, options: object) => writeFile(file(name), JSON.stringify(options));

  beforeAll(async () => {
    await configure('api.json', { maxConcurrent: 2, maxQueue: 10, clusterMaxConcurrent: 7 });
    await configure('rules.json', { Harbour: { title: '^harbour (\\d)\\;version:\\1' } });
    await configure('worker.json', { maxConcurrent: 2, maxQueue: 10, technologyRules: file('rules.json') });
    const flagsOf = (member: string) => ['--config', file(`${member}.json`), '--log-file', file(`${member}.log`)];
    [first, second, worker] = await Promise.all([
      cluster.start('api', ...flagsOf('api')),
      cluster.start('api'),
      cluster.start('worker', ...flagsOf('worker')),
    ]);
    await Promise.all([first, second].map((node) => cluster.workers(node, 1)));
  });

  it('runs a capture on a worker when an api node receives the request, and serves it at every node', async () => {
    const { status, result } = await capture(first.url, { url: site.url('/title?t=far'), device: 'iPhone 15' });
    expect({ status, title: result?.title }).toEqual({ status: 200, title: 'far' });
    const ofHtml = await capture(second.url, { html: `<title>given</title>${'ü'.repeat(250_000)}` });
    expect({ status: ofHtml.status, title: ofHtml.result?.title }).toEqual({ status: 200, title: 'given' });
    // A node serves captures before it has reached the database.
    await expect.poll(async () => (await fetch(`${second.url}/readyz/reads`)).status).toBe(200);
    const record = await fetch(`${second.url}/results/${result?.id}`);
    expect(record.status).toBe(200);
    expect(await record.json()).toMatchObject({ data: { options: { device: 'iPhone 15' }, options_withheld: [] } });
    const image = await fetch(`${second.url}${result?.screenshot}`);
    expect([image.status, image.headers.get('content-type')]).toEqual([200, 'image/png']);
    expect((await stats(first.url)).pool.browsers).toEqual([]);
    expect((await stats(worker.url)).pool.browsers).toHaveLength(1);
    await expect
      .poll(() => clusterStats(second))
      .toEqual({
        connected: true,
        nodes: 2,
        workers: 1,
        slots: 2,
        running: 0,
        waiting: 0,
      });
  });

  it('finds by what the worker knows of a host, and groups by it, at every node', async () => {
    const { result } = await capture(first.url, { url: site.url('/title?t=harbour%202') });
    const conditions = 'technology=Harbour/2&address=127.0.0.0/8&hsts=false';
    const found = async () => (await fetch(`${second.url}/results?${conditions}`)).json();
    await expect.poll(found).toMatchObject({ data: [{ id: result?.id, host_facts: { server: '', cnames: [] } }] });
    const groups = await fetch(`${second.url}/results/groups?by=technology`);
    expect(await groups.json()).toMatchObject({ data: { groups: [{ value: 'Harbour/2/', count: 1 }] } });
  });

  it('has the id of the request in the log lines of the worker', async () => {
    const headers = { 'content-type': 'application/json', 'X-Request-Id': 'asked-here' };
    const body = JSON.stringify({ url: site.url('/title?t=logged') });
    expect((await fetch(`${first.url}/screenshot`, { method: 'POST', headers, body })).status).toBe(200);
    const [line = ''] = await linesOf('worker', 'asked-here');
    expect(JSON.parse(line)).toMatchObject({ request_id: 'asked-here', msg: 'capture.stored' });
  });

  it('reports the limits in force, not those of the file, when an api node is sent SIGHUP', async () => {
    await configure('api.json', { maxConcurrent: 5, maxQueue: 3, clusterMaxConcurrent: 4 });
    first.child.kill('SIGHUP');
    const [line = ''] = await linesOf('api', 'limits');
    expect(JSON.parse(line)).toMatchObject({
      max_concurrent: 7,
      max_queue: 10,
      msg: 'the limits of the cluster stay in force: PATCH /limits changes them',
    });
    expect(await pressure(first)).toMatchObject({ maxConcurrent: 7, maxQueued: 10 });
    expect(await readFile(file('api.log'), 'utf8')).not.toContain('after a restart');
  });

  it('changes the slots of one worker with SIGHUP, and reports that a worker is overloaded', async () => {
    await configure('worker.json', { maxConcurrent: 5, maxQueue: 3 });
    worker.child.kill('SIGHUP');
    await expect.poll(() => clusterStats(first).then(({ slots }) => slots)).toBe(5);
    expect(await pressure(first)).toMatchObject({ maxConcurrent: 7, maxQueued: 10 });

    // Every process has more resident memory than this.
    const overloaded = await cluster.start('worker', '--max-memory-mb', '1');
    await expect
      .poll(() => pressure(overloaded))
      .toMatchObject({ accepting: false, reason: expect.stringContaining('MiB') });
  });

  /** Returns the log lines of a member that contain the text, as soon as there is one. */
  async function linesOf(member: string, text: string): Promise<readonly string[]> {
    const lines = async () =>
      (await readFile(file(`${member}.log`), 'utf8')).split('\n').filter((line) => line.includes(text));
    await expect.poll(lines).not.toEqual([]);
    return lines();
  }
});

async function pressure({ url }: { readonly url: string }): Promise<unknown> {
  return z.object({ data: z.unknown() }).parse(await (await fetch(`${url}/pressure`)).json()).data;
}
