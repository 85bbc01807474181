import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { BatchLineSchema, JobSchema } from '../../../src/http/answer/schemas.ts';
import { ground, serve as serveProcess } from '../../commands/capstan-process.ts';
import { serviceForSuite, siteForSuite } from '../../support/for-suite.ts';
import type { RunningApp } from '../../support/serve.ts';
import { NO_BROWSER, startService } from '../../support/service.ts';
import { failureOf, nextPage } from '../answers.ts';

const ASYNC = { Prefer: 'respond-async' };
const LINES = 'application/x-ndjson';
const Envelope = z.object({ data: JobSchema });

const site = siteForSuite();
const app = serviceForSuite({ maxConcurrent: 2 });

type Call = Pick<RunningApp, 'call'>;

async function jobAt(location: string, { call }: Call = app): Promise<z.output<typeof JobSchema>> {
  const response = await call(location);
  expect(response.status).toBe(200);
  return Envelope.parse(await response.json()).data;
}

/** Polls the job until it is in the given state. */
async function jobWhen(state: string, location: string, at: Call = app): Promise<z.output<typeof JobSchema>> {
  let job = await jobAt(location, at);
  await expect
    .poll(async () => {
      job = await jobAt(location, at);
      return job.state;
    })
    .toBe(state);
  return job;
}

async function accepted(response: Response): Promise<string> {
  expect(response.status).toBe(202);
  expect(response.headers.get('Preference-Applied')).toBe('respond-async');
  const { data } = Envelope.parse(await response.json());
  expect(response.headers.get('Location')).toBe(`/jobs/${data.id}`);
  return `/jobs/${data.id}`;
}

describe('Prefer: respond-async', () => {
  it('answers 202 before the capture is done, and stores the outcome in the job', async () => {
    const requested = site.hits('/short');
    const location = await accepted(await app.post('/screenshot', { url: site.url('/short') }, { headers: ASYNC }));
    const job = await jobWhen('completed', location);
    expect(job).toMatchObject({ kind: 'screenshot', progress: { done: 1, failed: 0, total: 1 }, error: null });
    expect(job.results).toMatchObject([{ index: 0, url: site.url('/short'), error: null, result: { failed: false } }]);
    expect((await app.call(`/results/${job.results?.[0]?.result?.id}`)).status).toBe(200);
    expect(site.hits('/short')).toBe(requested + 1);
  });

  it('reports a refused target as the outcome of the job', async () => {
    const location = await accepted(await app.post('/screenshot', { url: 'file:///x' }, { headers: ASYNC }));
    const job = await jobWhen('completed', location);
    expect(job).toMatchObject({ progress: { failed: 1 }, results: [{ code: 'target_forbidden', result: null }] });
  });

  it('recognises respond-async among other preferences, and no similar preference', async () => {
    const body = { url: 'file:///x' };
    for (const [prefer, status] of [
      ['wait=10, Respond-Async', 202],
      ['respond-async;x=1', 202],
      ['respond-asynchronously', 403],
      ['wait=10', 403],
    ] as const) {
      expect((await app.post('/screenshot', body, { headers: { Prefer: prefer } })).status).toBe(status);
    }
  });

  it('answers a batch with a job whose outcomes come in pages, or as lines', async () => {
    const requests = [{ url: site.url('/404') }, { url: 'file:///x' }, { url: site.url('/title?t=a') }];
    const response = await app.post('/batch', { requests, concurrency: 2 }, { headers: ASYNC });
    const location = await accepted(response);
    const job = await jobWhen('completed', location);
    expect(job.progress).toEqual({ done: 3, failed: 1, failed_by: { target_forbidden: 1 }, total: 3 });
    expect(job.results?.map(({ index, code }) => [index, code])).toEqual([
      [0, null],
      [1, 'target_forbidden'],
      [2, null],
    ]);

    const first = await app.call(`${location}?limit=2`);
    const second = await app.call(nextPage(first) ?? '');
    expect(nextPage(second)).toBeUndefined();
    const pages = [await first.json(), await second.json()].map((page) => Envelope.parse(page).data.results ?? []);
    expect(pages.flat()).toEqual(job.results);
    expect(pages.map((page) => page.length)).toEqual([2, 1]);

    const lines = await app.call(location, { headers: { Accept: LINES } });
    expect(lines.headers.get('Content-Type')).toContain(LINES);
    const text = (await lines.text()).trimEnd().split('\n');
    expect(text.map((line) => BatchLineSchema.parse(JSON.parse(line)))).toEqual(job.results);
  });

  it('lists the newest jobs with their progress, at most as many as asked for', async () => {
    const location = await accepted(await app.post('/batch', { requests: [{ url: 'file:///x' }] }, { headers: ASYNC }));
    await jobWhen('completed', location);
    const { data } = z.object({ data: z.array(JobSchema) }).parse(await (await app.call('/jobs?limit=1')).json());
    expect(data).toMatchObject([
      { id: location.replace('/jobs/', ''), kind: 'batch', progress: { done: 1, failed: 1, total: 1 } },
    ]);
    expect(data[0]).not.toHaveProperty('results');
  });

  it('completes an empty batch, and refuses an invalid one', async () => {
    const location = await accepted(await app.post('/batch', { requests: [] }, { headers: ASYNC }));
    expect((await jobWhen('completed', location)).progress).toEqual({ done: 0, failed: 0, failed_by: {}, total: 0 });
    expect((await app.post('/batch', { requests: [{}] }, { headers: ASYNC })).status).toBe(400);
  });

  it('creates one job for each Idempotency-Key', async () => {
    const headers = { ...ASYNC, 'Idempotency-Key': 'one job' };
    const [first, again] = [
      await app.post('/batch', { requests: [] }, { headers }),
      await app.post('/batch', { requests: [] }, { headers }),
    ];
    expect(again.headers.get('Idempotent-Replayed')).toBe('true');
    expect(await accepted(again)).toBe(await accepted(first));
  });

  it('requires a database', async () => {
    const without = await startService({ ...NO_BROWSER, dbPath: null });
    try {
      const responses = [
        await without.post('/screenshot', { url: 'file:///x' }, { headers: ASYNC }),
        await without.post('/batch', { requests: [] }, { headers: ASYNC }),
        await without.call('/jobs/x'),
        await without.call('/jobs/x', { method: 'DELETE' }),
      ];
      for (const response of responses) {
        expect([response.status, (await failureOf(response)).code]).toEqual([503, 'database_not_enabled']);
      }
    } finally {
      await without.stop();
    }
  });
});

describe('a job', () => {
  it('cancels a job by DELETE together with its running capture, and keeps its outcomes', async () => {
    const requested = site.hits('/hang');
    const requests = [{ url: 'file:///x' }, { url: site.url('/hang') }, { url: site.url('/hang') }];
    const location = await accepted(await app.post('/batch', { requests, concurrency: 1 }, { headers: ASYNC }));
    await expect.poll(() => site.hits('/hang')).toBe(requested + 1);
    const { cancelled } = app.service.stats().captures;
    const deleted = await app.call(location, { method: 'DELETE' });
    expect(Envelope.parse(await deleted.json()).data).toMatchObject({ state: 'cancelled', progress: { done: 1 } });
    await expect.poll(() => app.service.stats().captures.inside).toBe(0);
    // The third was dialled ahead, or not yet.
    expect([1, 2]).toContain(app.service.stats().captures.cancelled - cancelled);
    expect(await jobAt(location)).toMatchObject({ state: 'cancelled', results: [{ index: 0 }] });
    expect(site.hits('/hang')).toBe(requested + 1);
  });

  it('answers 404 for an unknown id', async () => {
    for (const method of ['GET', 'DELETE']) {
      const response = await app.call('/jobs/none', { method });
      expect([response.status, (await failureOf(response)).code]).toEqual([404, 'not_found']);
    }
  });

  it('continues after the process was killed, without repeating captures that have an outcome', async () => {
    const place = await ground();
    const args = ['--db-path', 'results.db', '--data-dir', 'data', '--allow-targets', '127.0.0.1'];
    const hanging = { url: site.url('/hang'), timeoutMs: 10_000 };
    const requests = [{ url: site.url('/title?t=once') }, hanging, { url: site.url('/short') }];
    const before = { title: site.hits('/title'), hang: site.hits('/hang'), short: site.hits('/short') };

    const first = await serveProcess(args, place.options);
    const at = (baseUrl: string): Call => ({ call: (path, init) => fetch(baseUrl + path, init) });
    const location = await accepted(
      await fetch(`${first.url}/batch`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', ...ASYNC },
        body: JSON.stringify({ requests, concurrency: 1 }),
      }),
    );
    await expect.poll(() => site.hits('/hang')).toBe(before.hang + 1);
    await expect.poll(async () => (await jobAt(location, at(first.url))).progress.done).toBe(1);
    first.child.kill('SIGKILL');
    await first.ended;

    const second = await serveProcess(args, place.options);
    try {
      expect((await jobAt(location, at(second.url))).progress).toEqual({ done: 1, failed: 0, failed_by: {}, total: 3 });
      const job = await jobWhen('completed', location, at(second.url));
      expect(job.results?.map(({ code }) => code)).toEqual([null, 'capture_timeout', null]);
    } finally {
      second.child.kill('SIGTERM');
      await second.ended;
    }
    expect(site.hits('/title')).toBe(before.title + 1);
    expect(site.hits('/hang')).toBe(before.hang + 2);
    expect(site.hits('/short')).toBe(before.short + 1);
    // Two starts, an expiring lease and a hanging page: about half a minute on a busy machine.
  });

  it('finishes a job in the next process when the service stops', async () => {
    const path = '/title';
    const first = await startService({ maxConcurrent: 1 });
    const requested = site.hits('/hang');
    const requests = [
      { url: site.url(`${path}?t=1`) },
      { url: site.url('/hang'), timeoutMs: 6_000 },
      { url: site.url(path) },
    ];
    const location = await accepted(await first.post('/batch', { requests }, { headers: ASYNC }));
    await expect.poll(() => site.hits('/hang')).toBe(requested + 1);
    const stores = { dbPath: `${first.directory}/results.db`, dataDir: `${first.directory}/data` };
    await first.service.stop(0);
    const hits = site.hits(path);

    const next = await startService({ ...stores, maxConcurrent: 1 });
    try {
      const job = await jobWhen('completed', location, next);
      expect(job.results?.map(({ code }) => code)).toEqual([null, 'capture_timeout', null]);
      expect(site.hits(path)).toBe(hits + 1);
    } finally {
      await next.stop();
      await first.stop();
    }
  });
});
