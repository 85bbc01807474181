import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Database } from '../../src/storage/database.ts';
import type { JobItem, NewJob } from '../../src/storage/job-store.ts';
import { createNoDatabase } from '../../src/storage/memory/no-database.ts';
import { describeInEachDatabase } from './each-database.ts';

const made: string[] = [];
function newJob(overrides: Partial<NewJob> = {}): NewJob {
  const id = randomUUID();
  made.push(id);
  return { id, kind: 'batch', total: 3, work: Buffer.from([0, 1, 255]), ...overrides };
}

const item = (index: number, failed = false): JobItem => ({ index, failed, body: `{"of":${index}}` });

/** `open` returns a store over a database without jobs, or the same database again. */
function describeJobs(open: () => Promise<Database>): void {
  let store: Database;

  beforeAll(async () => {
    store = await open();
  });

  // Leaves no job for the next test to take.
  afterEach(async () => {
    for (const id of made.splice(0)) await store.jobs.cancel(id);
    await store.jobs.prune(0);
  });

  afterAll(() => store?.close());

  async function taken(owner = 'a', leaseMs?: number) {
    const job = newJob();
    await store.jobs.add(job);
    await store.jobs.take(owner, leaseMs);
    return job.id;
  }

  it('stores the work of a job and its progress', async () => {
    const job = newJob({ kind: 'screenshot', total: 1 });
    await store.jobs.add(job);
    expect(await store.jobs.get(job.id)).toEqual({
      id: job.id,
      kind: 'screenshot',
      state: 'queued',
      total: 1,
      done: 0,
      failed: 0,
      createdAt: expect.stringMatching(/^\d{4}-.*\.\d{3}Z$/),
      startedAt: null,
      finishedAt: null,
      failure: null,
    });
    const { work, ...rest } = (await store.jobs.take('a')) ?? {};
    expect(rest).toEqual({ id: job.id, kind: 'screenshot', done: [] });
    expect(Buffer.from(work ?? []).equals(Buffer.from(job.work))).toBe(true);
    expect(await store.jobs.get(job.id)).toMatchObject({ state: 'running', startedAt: expect.any(String) });

    await store.jobs.put(job.id, 'a', [item(0, true)]);
    await store.jobs.finish(job.id, 'a', { state: 'completed' });
    expect(await store.jobs.get(job.id)).toMatchObject({
      state: 'completed',
      done: 1,
      failed: 1,
      finishedAt: expect.any(String),
    });
    expect(await store.jobs.get(randomUUID())).toBeUndefined();
  });

  it('gives each job to one of many concurrent takers, oldest first', async () => {
    const jobs = [newJob(), newJob()];
    for (const job of jobs) {
      await store.jobs.add(job);
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
    const takes = await Promise.all(['a', 'b', 'c', 'd'].map((owner) => store.jobs.take(owner)));
    const ids = takes.flatMap((job) => (job === undefined ? [] : [job.id]));
    expect(ids.toSorted()).toEqual(jobs.map(({ id }) => id).toSorted());
  });

  it('lists all jobs, newest first', async () => {
    const added = [newJob(), newJob(), newJob()];
    for (const job of added) await store.jobs.add(job);
    const listed = await store.jobs.newest();
    expect(listed.toSorted()).toEqual(added.map(({ id }) => id).toSorted());
    const times = await Promise.all(listed.map(async (id) => (await store.jobs.get(id))?.createdAt ?? ''));
    expect(times).toEqual(times.toSorted().toReversed());
  });

  it('passes a job whose lease was not renewed to the next taker, with its progress', async () => {
    const id = await taken('a', 0);
    await store.jobs.put(id, 'a', [item(2), item(0)]);
    expect(await store.jobs.take('b')).toMatchObject({ id, done: [0, 2] });
    expect(await store.jobs.renew(id, 'a')).toBe(false);
    expect(await store.jobs.renew(id, 'b')).toBe(true);

    await store.jobs.put(id, 'a', [item(1)]);
    await store.jobs.finish(id, 'a', { state: 'completed' });
    expect(await store.jobs.get(id)).toMatchObject({ state: 'running', done: 2 });
  });

  it('leaves a renewed job to its owner, and accepts a job that is given back', async () => {
    const id = await taken('a', 0);
    expect(await store.jobs.renew(id, 'a')).toBe(true);
    expect(await store.jobs.take('b')).toBeUndefined();
    await store.jobs.release(id, 'b');
    expect(await store.jobs.take('b')).toBeUndefined();
    await store.jobs.release(id, 'a');
    expect(await store.jobs.take('b')).toMatchObject({ id });
  });

  it('keeps the first outcome of a request, and pages through outcomes by index', async () => {
    const id = await taken();
    await store.jobs.put(id, 'a', [item(3), item(1)]);
    await store.jobs.put(id, 'a', [{ ...item(1, true), body: '{}' }, item(0), item(2)]);
    expect(await store.jobs.results(id, 2)).toEqual([item(0), item(1)]);
    expect(await store.jobs.results(id, 9, 1)).toEqual([item(2), item(3)]);
    expect(await store.jobs.get(id)).toMatchObject({ done: 4, failed: 0 });
  });

  it('stores the reason why a job failed', async () => {
    const id = await taken();
    const failure = { code: 'internal', reason: 'a $reason' } as const;
    await store.jobs.finish(id, 'a', { state: 'failed', failure });
    expect(await store.jobs.get(id)).toMatchObject({ state: 'failed', failure });
  });

  it('cancels a job no matter which process runs it, but never an ended one', async () => {
    const id = await taken();
    expect(await store.jobs.cancel(id)).toMatchObject({ state: 'cancelled', finishedAt: expect.any(String) });
    expect(await store.jobs.renew(id, 'a')).toBe(false);
    await store.jobs.finish(id, 'a', { state: 'completed' });
    expect(await store.jobs.get(id)).toMatchObject({ state: 'cancelled' });

    const ended = await taken();
    await store.jobs.finish(ended, 'a', { state: 'completed' });
    expect(await store.jobs.cancel(ended)).toMatchObject({ state: 'completed' });
    expect(await store.jobs.cancel(randomUUID())).toBeUndefined();
  });

  it('removes jobs that finished long ago, with their outcomes, and no unfinished ones', async () => {
    const ended = await taken();
    await store.jobs.put(ended, 'a', [item(0)]);
    await store.jobs.finish(ended, 'a', { state: 'completed' });
    const running = await taken();
    await store.jobs.prune();
    expect(await store.jobs.get(ended)).toBeDefined();
    await store.jobs.prune(0);
    expect(await store.jobs.get(ended)).toBeUndefined();
    expect(await store.jobs.results(ended, 9)).toEqual([]);
    expect(await store.jobs.get(running)).toBeDefined();
  });

  it('makes room for a job by removing the one that finished first, and refuses it if none has finished', async () => {
    const ended = [await taken(), await taken()];
    for (const id of ended) {
      await store.jobs.finish(id, 'a', { state: 'completed' });
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
    await store.jobs.add(newJob(), 2);
    expect(await Promise.all(ended.map((id) => store.jobs.get(id)))).toEqual([undefined, expect.anything()]);
    await store.jobs.add(newJob(), 2);
    await expect(store.jobs.add(newJob(), 2)).rejects.toMatchObject({ code: 'queue_full' });
  });

  it('keeps everything when it is reopened', async () => {
    const id = await taken('a', 0);
    await store.jobs.put(id, 'a', [item(1)]);
    await store.close();
    store = await open();
    expect(await store.jobs.take('b')).toMatchObject({ id, done: [1] });
  });
}

describe('job stores', () => {
  it('refuses jobs without a database', async () => {
    const { jobs } = createNoDatabase();
    await expect(jobs.add(newJob())).rejects.toMatchObject({ code: 'database_not_enabled' });
    await expect(jobs.get('x')).rejects.toMatchObject({ code: 'database_not_enabled' });
  });

  describeInEachDatabase(describeJobs);
});
