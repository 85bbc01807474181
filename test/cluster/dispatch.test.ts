import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { capture, stats } from '../faults/client.ts';
import { siteForSuite } from '../support/for-suite.ts';
import { clusterOf, clusterStats, serversForSuite, whyNoCluster } from './cluster-of-processes.ts';

const whyNot = await whyNoCluster();
const reason = whyNot === undefined ? '' : ` (skipped: ${whyNot})`;

describe.skipIf(whyNot !== undefined)(`a cluster${reason}`, () => {
  const site = siteForSuite();
  const servers = serversForSuite();

  it('runs a capture on a worker when an api node receives the request, and serves it at every node', async () => {
    await using cluster = await clusterOf(servers, 'dispatch');
    const [first, second, worker] = await Promise.all([
      cluster.start('api'),
      cluster.start('api'),
      cluster.start('worker', '--max-concurrent', '2'),
    ]);
    await cluster.workers(first, 1);
    const { status, result } = await capture(first.url, { url: site.url('/title?t=far'), device: 'iPhone 15' });
    expect({ status, title: result?.title }).toEqual({ status: 200, title: 'far' });
    const ofHtml = await capture(second.url, { html: `<title>given</title>${'ü'.repeat(250_000)}` });
    expect({ status: ofHtml.status, title: ofHtml.result?.title }).toEqual({ status: 200, title: 'given' });
    // A node serves captures before it has reached the database.
    await expect.poll(async () => (await fetch(`${second.url}/readyz/reads`)).status, { timeout: 120_000 }).toBe(200);
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

  it('reports the limits in force, not those of the file, when an api node is sent SIGHUP', async () => {
    await using cluster = await clusterOf(servers, 'reload-api');
    const file = join(cluster.place.path, 'capstan.json');
    const log = join(cluster.place.path, 'api.log');
    const configure = (options: object) => writeFile(file, JSON.stringify(options));
    await configure({ maxConcurrent: 2, maxQueue: 10, clusterMaxConcurrent: 7 });
    const node = await cluster.start('api', '--config', file, '--log-file', log);
    await configure({ maxConcurrent: 5, maxQueue: 3, clusterMaxConcurrent: 4 });
    node.child.kill('SIGHUP');
    const lines = async () => (await readFile(log, 'utf8')).split('\n').filter((line) => line.includes('limits'));
    await expect.poll(lines, { timeout: 120_000 }).not.toEqual([]);
    const [line = ''] = await lines();
    expect(JSON.parse(line)).toMatchObject({
      max_concurrent: 7,
      max_queue: 10,
      msg: 'the limits of the cluster stay in force: PATCH /limits changes them',
    });
    expect(await pressure(node)).toMatchObject({ maxConcurrent: 7, maxQueued: 10 });
    expect(await readFile(log, 'utf8')).not.toContain('after a restart');
  });

  it('changes the slots of one worker with SIGHUP, and reports that a worker is overloaded', async () => {
    await using cluster = await clusterOf(servers, 'reload');
    const file = join(cluster.place.path, 'capstan.json');
    const configure = (options: object) => writeFile(file, JSON.stringify(options));
    await configure({ maxConcurrent: 2, maxQueue: 10 });
    const node = await cluster.start('api', '--cluster-max-concurrent', '7', '--max-queue', '9');
    const worker = await cluster.start('worker', '--config', file);
    await cluster.workers(node, 1);
    await configure({ maxConcurrent: 5, maxQueue: 3 });
    worker.child.kill('SIGHUP');
    await expect.poll(() => clusterStats(node).then(({ slots }) => slots), { timeout: 120_000 }).toBe(5);
    expect(await pressure(node)).toMatchObject({ maxConcurrent: 7, maxQueued: 9 });

    // Every process has more resident memory than this.
    const overloaded = await cluster.start('worker', '--max-memory-mb', '1');
    await expect
      .poll(() => pressure(overloaded), { timeout: 120_000 })
      .toMatchObject({ accepting: false, reason: expect.stringContaining('MiB') });
  });
});

async function pressure({ url }: { readonly url: string }): Promise<unknown> {
  return z.object({ data: z.unknown() }).parse(await (await fetch(`${url}/pressure`)).json()).data;
}
