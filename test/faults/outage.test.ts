import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, type ExpectStatic, expect, it } from 'vitest';
import { z } from 'zod';
import { BatchLineSchema, JobSchema } from '../../src/http/answer/schemas.ts';
import { startHeldPages } from '../cluster/held-pages.ts';
import { ground } from '../commands/capstan-process.ts';
import { browserStartedBy } from '../support/browser-script.ts';
import { siteForSuite } from '../support/for-suite.ts';
import { NO_BROWSER, type RunningService, startService } from '../support/service.ts';
import { lockDatabase } from './locked-database.ts';
import { mountSmallDisk, whyNoTmpfs } from './tmpfs.ts';

const Job = z.object({ data: JobSchema });
const ITEMS = 6;

describe('an outage of the service', () => {
  const site = siteForSuite();

  const requests = () =>
    Array.from({ length: ITEMS }, (_, index) => ({ url: site.url(`/title?t=${index}`), timeoutMs: 120_000 }));

  /** Returns a browser that starts only once `allow` was called. */
  async function startableBrowser() {
    const allowed = join((await ground()).path, 'allowed');
    const path = await browserStartedBy((browser) => `[ -e '${allowed}' ] || exit 1\nexec ${browser} "$@"`);
    return { path, allow: () => writeFile(allowed, '') };
  }

  async function startJob(service: RunningService): Promise<string> {
    const response = await service.post('/batch', { requests: requests() }, { headers: { Prefer: 'respond-async' } });
    return Job.parse(await response.json()).data.id;
  }

  const jobAt = async (service: RunningService, id: string) =>
    Job.parse(await (await service.call(`/jobs/${id}`)).json()).data;

  const failures = (service: RunningService) => service.service.stats().captures.failed;

  async function expectAllStored(expect: ExpectStatic, service: RunningService, id: string): Promise<void> {
    await expect.poll(async () => (await jobAt(service, id)).state).toBe('completed');
    expect((await jobAt(service, id)).progress).toMatchObject({ done: ITEMS, failed: 0, total: ITEMS });
  }

  it.concurrent('fails no capture of a job while no browser can be started', async ({ expect }) => {
    const browser = await startableBrowser();
    const service = await startService({ browserPath: browser.path });
    const id = await startJob(service);
    await expect.poll(() => failures(service)).toBeGreaterThanOrEqual(ITEMS);
    expect((await jobAt(service, id)).progress).toMatchObject({ done: 0, failed: 0 });
    await browser.allow();
    await expectAllStored(expect, service, id);
    await service.stop();
  });

  it.concurrent('fails no single capture that runs as a job while no browser can be started', async ({ expect }) => {
    const browser = await startableBrowser();
    const service = await startService({ browserPath: browser.path });
    const headers = { Prefer: 'respond-async' };
    const response = await service.post('/screenshot', { url: site.url('/title?t=single') }, { headers });
    const { id } = Job.parse(await response.json()).data;
    await expect.poll(() => failures(service)).toBeGreaterThanOrEqual(2);
    await browser.allow();
    await expect.poll(async () => (await jobAt(service, id)).state).toBe('completed');
    expect((await jobAt(service, id)).progress).toMatchObject({ done: 1, failed: 0, total: 1 });
    await service.stop();
  });

  it.concurrent('fails no capture of a batch when the deadline is after the end of the outage', async ({ expect }) => {
    const browser = await startableBrowser();
    const service = await startService({ browserPath: browser.path });
    const answer = service.post('/batch', { requests: requests() });
    await expect.poll(() => failures(service)).toBeGreaterThanOrEqual(ITEMS);
    await browser.allow();
    const items = z.array(BatchLineSchema.omit({ index: true })).parse(await (await answer).json());
    expect(items.map(({ code }) => code)).toEqual(Array(ITEMS).fill(null));
    await service.stop();
  });

  it.concurrent('fails no capture of a job while the data directory is full', {
    skip: whyNoTmpfs !== undefined,
  }, async ({ expect }) => {
    const place = await ground();
    const dataDir = join(place.path, 'data');
    await mkdir(dataDir);
    await using disk = await mountSmallDisk(dataDir, 2048);
    const service = await startService({ dataDir });
    await disk.fill();
    const id = await startJob(service);
    await expect.poll(() => failures(service)).toBeGreaterThanOrEqual(ITEMS);
    await disk.free();
    await expectAllStored(expect, service, id);
    await service.stop();
  });

  it.concurrent('stores an outcome of a job soon after the database is back, while another capture of the job still runs', async ({
    expect,
  }) => {
    await using held = await startHeldPages(Number.POSITIVE_INFINITY);
    const service = await startService();
    const headers = { Prefer: 'respond-async' };
    const pages = [held.url(), site.url('/hang')].map((url) => ({ url, timeoutMs: 240_000 }));
    const response = await service.post('/batch', { requests: pages, concurrency: 2 }, { headers });
    const { id } = Job.parse(await response.json()).data;
    await expect.poll(() => [held.waiting, site.hits('/hang')]).toEqual([1, 1]);
    const lock = lockDatabase(join(service.directory, 'results.db'));
    held.hold(0);
    await expect.poll(() => service.service.stats().captures.stored).toBe(1);
    // Writes are made in their order, so by this answer the outcome was not stored either.
    expect((await service.post('/batch', { requests: [] }, { headers })).status).toBe(503);
    lock[Symbol.dispose]();
    await expect.poll(async () => (await jobAt(service, id)).progress.done).toBe(1);
    await service.call(`/jobs/${id}`, { method: 'DELETE' });
    await service.stop();
  });

  it.concurrent('does not delay a stop, and completes the job after the next start', async ({ expect }) => {
    const place = await ground();
    const browser = await startableBrowser();
    const dbPath = join(place.path, 'results.db');
    const dataDir = join(place.path, 'data');
    const before = await startService({ browserPath: browser.path, dbPath, dataDir });
    const id = await startJob(before);
    await expect.poll(() => failures(before)).toBeGreaterThanOrEqual(ITEMS);
    await before.stop();
    await browser.allow();
    const after = await startService({ browserPath: browser.path, dbPath, dataDir });
    await expectAllStored(expect, after, id);
    await after.stop();
    await rm(dataDir, { recursive: true });
  });

  // Beside others, its deadline might pass before the first attempt.
  it('ends a batch with browser_unavailable when the deadline is before the end of the outage', async () => {
    const service = await startService(NO_BROWSER);
    const short = requests().map((request) => ({ ...request, timeoutMs: 10_000 }));
    const response = await service.post('/batch', { requests: short });
    const items = z.array(BatchLineSchema.omit({ index: true })).parse(await response.json());
    expect(items.map(({ code }) => code)).toEqual(Array(ITEMS).fill('browser_unavailable'));
    await service.stop();
  });
});
