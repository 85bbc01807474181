import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { startHeldPages } from '../cluster/held-pages.ts';
import { type Ground, ground, type Served, serve } from '../commands/capstan-process.ts';
import { siteForSuite } from '../support/for-suite.ts';
import { capture, stats } from './client.ts';

/** The smallest concurrency at which the service runs two browsers. */
const MAX_CONCURRENT = 16;
const CAPTURES = 6;
/** A hung browser is noticed after about 10 s, and later on a busy machine. */
const TIMEOUT_MS = 60_000;

describe('a service that loses a browser', () => {
  const site = siteForSuite();
  let place: Ground;
  let service: Served;
  beforeAll(async () => {
    place = await ground();
    service = await serve(
      ['--allow-targets', '127.0.0.1', '--max-concurrent', String(MAX_CONCURRENT), '--db-path', 'results.db'],
      place.options,
    );
    // The second browser is started when there is work for it.
    await captureAtOnce(() => site.url('/slow?ms=300'));
    await vi.waitUntil(async () => (await browsers()).length === 2, { timeout: 120_000 });
  });
  afterAll(async () => {
    service.child.kill('SIGTERM');
    await service.ended;
    await vi.waitUntil(async () => (await place.browsers()).length === 0, { timeout: 120_000 });
    expect(await readdir(place.path)).toEqual(['data', 'results.db', 'results.db-events.lock']);
  });

  const browsers = async () => (await stats(service.url)).pool.browsers.map(({ pid }) => pid);

  const captureAtOnce = (url: () => string) =>
    Promise.all(Array.from({ length: CAPTURES }, () => capture(service.url, { url: url(), timeoutMs: TIMEOUT_MS })));
  const profiles = async () => (await readdir(place.path)).filter((name) => name.startsWith('capstan-profile-')).length;

  it.each([
    ['is killed with -9', 'SIGKILL'],
    ['hangs', 'SIGSTOP'],
  ] as const)('repeats the affected captures once, and no others, when a browser %s', async (_, signal) => {
    const [gone, spared] = await browsers();
    if (gone === undefined) throw new Error('there is no browser');
    // Answers do not wait until the pages are disposed of, and browsers with fewer pages get the next ones.
    await expect.poll(async () => (await stats(service.url)).pool.busy).toBe(0);
    const { crashes } = (await stats(service.url)).pool;
    await using pages = await startHeldPages(Number.POSITIVE_INFINITY);
    const answers = captureAtOnce(pages.url);
    await expect.poll(() => pages.waiting).toBe(CAPTURES);
    process.kill(gone, signal);
    pages.hold(0);
    expect((await answers).map(({ status }) => status)).toEqual(Array(CAPTURES).fill(200));
    // Half of the captures ran on each browser: the unaffected ones were requested once, the others twice.
    expect(pages.requested).toBe(CAPTURES + CAPTURES / 2);

    await expect.poll(async () => (await browsers()).length).toBe(2);
    expect(await browsers()).not.toContain(gone);
    expect(await browsers()).toContain(spared);
    // A slot is free when its page is disposed of; the answer does not wait for that.
    await expect.poll(async () => (await stats(service.url)).pool).toMatchObject({ busy: 0, crashes: crashes + 1 });
    expect(existsSync(`/proc/${gone}`)).toBe(false);
    await expect.poll(profiles).toBe(2);
  });
});
