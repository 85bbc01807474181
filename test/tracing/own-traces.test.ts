import { AsyncLocalStorage } from 'node:async_hooks';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { asyncScheduler, lastValueFrom } from 'rxjs';
import { expect, it } from 'vitest';
import { createJobs } from '../../src/jobs/jobs.ts';
import { scanCaptures } from '../../src/service/intake/scan-captures.ts';
import { repeatPass } from '../../src/storage/passes/repeated-pass.ts';
import { openSqlite } from '../../src/storage/sqlite/open.ts';
import { openTracing } from '../../src/tracing/open-tracing.ts';
import { request, rig, stored } from '../streams/rig.ts';
import { makeDirectory } from '../support/temporary-directory.ts';
import { startCollector } from './collector.ts';

it('puts every capture into the trace of its own request, whoever makes room for it', async () => {
  await using collector = await startCollector();
  const database = await openSqlite({ path: join(await makeDirectory(), 'results.db') });
  const { pipeline, runBatch, stream } = rig({
    limits: { maxConcurrent: 1, maxQueue: 100 },
    scheduler: asyncScheduler,
    perform: async (command) => {
      await nextTurn();
      return stored(command);
    },
  });
  const tracing = openTracing(collector.url, () => undefined);
  tracing.follow(stream.events$);
  const traceOf = (digit: string) => digit.repeat(32);
  const asClient = <T>(digit: string, work: () => T): T =>
    tracing.request(
      { method: 'POST', headers: { traceparent: `00-${traceOf(digit)}-${'1'.repeat(16)}-01` } },
      Promise.resolve({ route: '/', status: 200 }),
      work,
    );
  let ids = 0;
  const jobs = createJobs({
    store: database.jobs,
    enabled: true,
    atOnce: () => 10,
    ids: () => `job${++ids}`,
    report: () => undefined,
    submit: pipeline.admit,
    submitBatch: runBatch,
    openSitemap: () => {
      throw new Error('no scan is tested');
    },
    captures: scanCaptures(
      database.results,
      () => Promise.resolve(),
      () => 0,
    ),
  });

  const three = [request('x'), request('y'), request('z')];
  const singles = three.map((one) => asClient('a', () => lastValueFrom(pipeline.admit(one))));
  const batch = asClient('b', () => lastValueFrom(runBatch(three, { concurrency: 2 })));
  const added = [
    asClient('c', () => jobs.add('batch', three)),
    asClient('d', () => jobs.add('screenshot', [request('w')])),
    asClient('e', () => jobs.add('batch', three, { concurrency: 2 })),
  ];
  await Promise.all([...singles, batch, ...added]);
  await expect.poll(() => jobs.counts.completed).toBe(3);
  await jobs.stop();
  await tracing.close();
  await database.close();

  const captures = collector.spans.filter(({ name }) => name === 'capture');
  const counts = [...'abcde'].map((digit) => captures.filter(({ trace }) => trace === traceOf(digit)).length);
  expect(counts).toEqual([3, 3, 3, 1, 3]);
});

it('makes background work outside of the request that asks for it, such as the runs of a watch that it adds', async () => {
  const context = new AsyncLocalStorage<string>();
  const passes = repeatPass({ run: async () => context.getStore(), intervalMs: 60_000 });
  expect(await context.run('a request', () => passes.pass())).toBeUndefined();
});
