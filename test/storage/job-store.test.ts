import { randomUUID } from 'node:crypto';
import { setImmediate as immediate } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { STORED_LIMITS } from '../../src/capture/stored-limits.ts';
import { createNoDatabase } from '../../src/storage/memory/no-database.ts';
import type { Database } from '../../src/storage/ports/database.ts';
import { type JobItem, jobKeyOf, type NewJob } from '../../src/storage/ports/job-store.ts';
import { describeInEachDatabase } from './each-database.ts';

const made: string[] = [];
function newJob(overrides: Partial<NewJob> = {}): NewJob {
  const job: NewJob = {
    id: randomUUID(),
    kind: 'batch',
    total: 3,
    work: Buffer.from([0, 1, 255]),
    keysShare: false,
    ...overrides,
  };
  made.push(job.id);
  return job;
}

const jobOf = (apiKeyName: string) => newJob({ id: `${jobKeyOf(apiKeyName)}${randomUUID()}`, keysShare: true });

const most = (count: number) => ({ ...STORED_LIMITS.unfinishedJobs, count });

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
    await store.jobs.take(owner, leaseMs === undefined ? {} : { leaseMs });
    return job.id;
  }

  it('gives scans to one owner at a time', async () => {
    const [one, two] = [newJob({ kind: 'scan' }), newJob({ kind: 'scan' })];
    await store.jobs.add(one);
    await store.jobs.add(two);
    expect(await store.jobs.take('a')).toMatchObject({ id: one.id });
    expect(await store.jobs.take('b')).toBeUndefined();
    expect(await store.jobs.take('a')).toMatchObject({ id: two.id });
    await store.jobs.release(one.id, 'a');
    expect(await store.jobs.take('b')).toBeUndefined();
    await store.jobs.release(two.id, 'a');
    const takes = await Promise.all(
      ['a', 'b', 'c'].map(async (owner) => ({ owner, job: await store.jobs.take(owner) })),
    );
    expect(takes.filter(({ job }) => job !== undefined).length).toBeLessThanOrEqual(1);
    // Of those that gave theirs back, the next one that asks gets both.
    const owner = takes.find(({ job }) => job !== undefined)?.owner ?? 'a';
    expect(await store.jobs.take(owner)).toBeDefined();
  });

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
      failedBy: {},
      createdAt: expect.stringMatching(/^\d{4}-.*\.\d{3}Z$/),
      startedAt: null,
      finishedAt: null,
      failure: null,
    });
    const { work, ...rest } = (await store.jobs.take('a')) ?? {};
    expect(rest).toEqual({ id: job.id, kind: 'screenshot', total: 1, isResumed: false });
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
      await nextMillisecond();
    }
    const takes = await Promise.all(['a', 'b', 'c', 'd'].map((owner) => store.jobs.take(owner)));
    const ids = takes.flatMap((job) => (job === undefined ? [] : [job.id]));
    expect(ids.toSorted()).toEqual(jobs.map(({ id }) => id).toSorted());
  });

  it('lists all jobs, newest first', async () => {
    const added = [newJob(), newJob(), newJob()];
    for (const job of added) await store.jobs.add(job);
    const listed = await store.jobs.newest(9);
    expect(listed.toSorted()).toEqual(added.map(({ id }) => id).toSorted());
    const times = await Promise.all(listed.map(async (id) => (await store.jobs.get(id))?.createdAt ?? ''));
    expect(times).toEqual(times.toSorted().toReversed());
  });

  it('lists at most as many jobs as asked for, and those of one key alone', async () => {
    const own = [jobOf('shop'), jobOf('shop')];
    for (const job of [newJob(), ...own, jobOf('news')]) await store.jobs.add(job);
    expect((await store.jobs.newest(9, jobKeyOf('shop'))).toSorted()).toEqual(own.map(({ id }) => id).toSorted());
    expect(await store.jobs.newest(9, jobKeyOf('none'))).toEqual([]);
    expect(await store.jobs.newest(1, jobKeyOf('shop'))).toHaveLength(1);
    expect(await store.jobs.newest(9, jobKeyOf(null))).toHaveLength(1);
  });

  it('lets the keys take turns, however many jobs of one are older', async () => {
    const added = ['shop', 'shop', 'shop', 'news', 'news'].map(jobOf);
    for (const job of added) {
      await store.jobs.add(job);
      await nextMillisecond();
    }
    const order: number[] = [];
    for (let job = await store.jobs.take('a'); job !== undefined; job = await store.jobs.take('a')) {
      order.push(added.findIndex(({ id }) => id === job?.id));
    }
    expect(order).toEqual([0, 3, 1, 4, 2]);
  });

  it('passes over the keys that have a running job when only idle ones may have another', async () => {
    const [first, second, other] = [jobOf('shop'), jobOf('shop'), jobOf('news')];
    for (const job of [first, second, other]) {
      await store.jobs.add(job);
      await nextMillisecond();
    }
    const takes = [];
    for (let index = 0; index < 3; index += 1) takes.push(await store.jobs.take('a', { isForIdleKeys: true }));
    expect(takes.map((job) => job?.id)).toEqual([first.id, other.id, undefined]);
  });

  it('leaves as many places to other keys as the unfinished jobs of one take', async () => {
    const waiting = [jobOf('shop'), jobOf('shop')];
    for (const job of waiting) await store.jobs.add(job, most(4));
    await expect(store.jobs.add(jobOf('shop'), most(4))).rejects.toMatchObject({
      code: 'queue_full',
      retryAfterSeconds: 5,
    });
    await expect(store.jobs.requireRoom(jobOf('shop'), most(4))).rejects.toMatchObject({ code: 'queue_full' });
    await store.jobs.requireRoom(jobOf('news'), most(4));
    await store.jobs.add(jobOf('news'), most(4));
    // Without other keys, there is nobody to leave a place to.
    await store.jobs.add({ ...jobOf('shop'), keysShare: false }, most(4));
    await expect(store.jobs.add({ ...jobOf('shop'), keysShare: false }, most(4))).rejects.toMatchObject({
      code: 'queue_full',
    });
  });

  it('makes room among the jobs of the same key alone', async () => {
    const ended = ['shop', 'news', 'news'].map(jobOf);
    for (const { id } of ended) {
      await store.jobs.add(newJob({ id }));
      await store.jobs.take('a');
      await store.jobs.finish(id, 'a', { state: 'completed' });
      await nextMillisecond();
    }
    await store.jobs.add(jobOf('news'), most(2));
    expect(await Promise.all(ended.map(async ({ id }) => (await store.jobs.get(id))?.state))).toEqual([
      'completed',
      undefined,
      'completed',
    ]);
  });

  it('passes a job whose lease was not renewed to the next taker, with its progress', async () => {
    const id = await taken('a', 0);
    await store.jobs.put(id, 'a', [item(2), item(0)]);
    expect(await store.jobs.take('b')).toMatchObject({ id, isResumed: true });
    expect(await store.jobs.done(id, 0, 3)).toEqual([0, 2]);
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
    expect(await store.jobs.results(id, 2)).toEqual({ items: [item(0), item(1)], isCut: true });
    expect(await store.jobs.results(id, 9, 1)).toEqual({ items: [item(2), item(3)], isCut: false });
    expect(await store.jobs.get(id)).toMatchObject({ done: 4, failed: 0 });
  });

  it('counts failures by their code', async () => {
    const id = await taken();
    const failed = (index: number, code: string): JobItem => ({ ...item(index, true), code });
    await store.jobs.put(id, 'a', [item(0), failed(1, 'target_unreachable'), failed(2, 'not_a_page')]);
    await store.jobs.put(id, 'a', [failed(3, 'target_unreachable')]);
    expect(await store.jobs.get(id)).toMatchObject({
      done: 4,
      failed: 3,
      failedBy: { target_unreachable: 2, not_a_page: 1 },
    });
  });

  it('tells which outcomes of a part of a job are there', async () => {
    const id = await taken();
    expect(await store.jobs.progress(id)).toEqual({ done: 0, highest: -1 });
    await store.jobs.put(id, 'a', [item(0), item(1), item(7)]);
    expect(await store.jobs.done(id, 1, 7)).toEqual([1]);
    expect(await store.jobs.progress(id)).toEqual({ done: 3, highest: 7 });
  });

  it('keeps the list of a job until it has ended', async () => {
    const job = newJob({ kind: 'scan' });
    await store.jobs.putList(job.id, 0, Buffer.from('a'));
    await store.jobs.putList(job.id, 1, Buffer.from('b'));
    await store.jobs.add({ ...job, listBytes: 2 });
    const list = async () => Promise.all([0, 1, 2].map((part) => store.jobs.list(job.id, part)));
    expect((await list()).map((part) => part && Buffer.from(part).toString())).toEqual(['a', 'b', undefined]);
    await store.jobs.take('a');
    await store.jobs.finish(job.id, 'a', { state: 'completed' });
    expect(await list()).toEqual([undefined, undefined, undefined]);
  });

  it('counts the list of an unfinished job towards its bytes', async () => {
    const job = newJob({ kind: 'scan' });
    const max = { count: 9, bytes: 2000 };
    await expect(store.jobs.add({ ...job, listBytes: 2000 }, max)).rejects.toMatchObject({ code: 'queue_full' });
    await store.jobs.add({ ...job, listBytes: 1 }, max);
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
    expect((await store.jobs.results(ended, 9)).items).toEqual([]);
    expect(await store.jobs.get(running)).toBeDefined();
  });

  it('makes room for a job by removing the one that finished first, and refuses it if none has finished', async () => {
    const ended = [await taken(), await taken()];
    for (const id of ended) {
      await store.jobs.finish(id, 'a', { state: 'completed' });
      await nextMillisecond();
    }
    await store.jobs.add(newJob(), most(2));
    expect(await Promise.all(ended.map((id) => store.jobs.get(id)))).toEqual([undefined, expect.anything()]);
    await store.jobs.add(newJob(), most(2));
    await expect(store.jobs.add(newJob(), most(2))).rejects.toMatchObject({ code: 'queue_full' });
  });

  it('removes the finished jobs of a key, the oldest first, whose outcomes take too many bytes', async () => {
    const finished: string[] = [];
    for (let at = 0; at < 3; at += 1) {
      const job = jobOf('flood');
      await store.jobs.add(job);
      await store.jobs.take('a');
      await store.jobs.put(job.id, 'a', [{ ...item(0), body: JSON.stringify('x'.repeat(40 * 1024)) }]);
      await store.jobs.finish(job.id, 'a', { state: 'completed' }, { count: 9, bytes: 100 * 1024 });
      await nextMillisecond();
      finished.push(job.id);
    }
    const kept = await Promise.all(finished.map(async (id) => (await store.jobs.get(id))?.state));
    expect(kept).toEqual([undefined, 'completed', 'completed']);
  });

  it('keeps the job that has just ended, however many bytes its outcomes take', async () => {
    for (const bytes of [40, 400]) {
      const job = jobOf('flood');
      await store.jobs.add(job);
      await store.jobs.take('a');
      await store.jobs.put(job.id, 'a', [{ ...item(0), body: JSON.stringify('x'.repeat(bytes * 1024)) }]);
      await store.jobs.finish(job.id, 'a', { state: 'completed' }, { count: 9, bytes: 100 * 1024 });
      await nextMillisecond();
      expect((await store.jobs.get(job.id))?.state).toBe('completed');
    }
  });

  it('pages through large outcomes by 2 MiB', async () => {
    const id = await taken();
    const body = JSON.stringify('x'.repeat(900 * 1024));
    await store.jobs.put(
      id,
      'a',
      [0, 1, 2, 3].map((index) => ({ ...item(index), body })),
    );
    const first = await store.jobs.results(id, 1000);
    expect([first.items.map(({ index }) => index), first.isCut]).toEqual([[0, 1, 2], true]);
    const rest = await store.jobs.results(id, 1000, 2);
    expect([rest.items.map(({ index }) => index), rest.isCut]).toEqual([[3], false]);
  });

  it('keeps everything when it is reopened', async () => {
    const id = await taken('a', 0);
    await store.jobs.put(id, 'a', [item(1)]);
    await store.close();
    store = await open();
    expect(await store.jobs.take('b')).toMatchObject({ id });
    expect(await store.jobs.done(id, 0, 3)).toEqual([1]);
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

/** Jobs are in the order of their milliseconds. */
async function nextMillisecond(): Promise<void> {
  const now = Date.now();
  while (Date.now() === now) await immediate();
}
