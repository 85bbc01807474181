import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { JobSchema, ScanSchema } from '../../../src/http/answer/schemas.ts';
import { type Hosts, startHosts, titledPage } from '../../scans/hosts.ts';
import { serviceForSuite } from '../../support/for-suite.ts';
import { failureOf } from '../answers.ts';
import { subscribe } from '../event-subscriber.ts';

const Scan = z.object({ data: ScanSchema });
const Job = z.object({ data: JobSchema });
const LIST = { 'Content-Type': 'application/octet-stream' };

const app = serviceForSuite({ maxConcurrent: 4, allowTargets: ['127.0.0.0/8'] });
let hosts: Hosts;
let busy = 0;
let redirectLate = () => {};
beforeAll(async () => {
  hosts = await startHosts((request, response) => {
    if (request.url === '/to') return void response.writeHead(302, { Location: '/' }).end();
    if (request.url === '/late') {
      redirectLate = () => response.writeHead(302, { Location: '/' }).end();
      return;
    }
    if (request.url === '/sitemap.xml') {
      const loc = `http://${request.headers.host}/in-sitemap`;
      return void response.end(gzipSync(`<urlset><url><loc>${loc}</loc></url></urlset>`));
    }
    if (request.url !== '/busy') return titledPage(request, response);
    busy += 1;
    if (busy > 1) return titledPage(request, response);
    return void response.writeHead(503, { 'Retry-After': '1', 'Content-Type': 'text/html' }).end('<p>busy</p>');
  });
});
afterAll(() => hosts?.[Symbol.asyncDispose]());

async function accepted(response: Response): Promise<z.output<typeof ScanSchema>> {
  expect(response.status).toBe(202);
  const { data } = Scan.parse(await response.json());
  expect(response.headers.get('Location')).toBe(`/jobs/${data.id}`);
  return data;
}

async function ended(id: string): Promise<z.output<typeof JobSchema>> {
  let job: z.output<typeof JobSchema> | undefined;
  await expect
    .poll(async () => {
      job = Job.parse(await (await app.call(`/jobs/${id}`)).json()).data;
      return job.finished_at;
    })
    .not.toBeNull();
  if (job === undefined) throw new Error('never');
  return job;
}

/** Sends a list as the body. */
const send = (list: string, query = '') => app.call(`/scans${query}`, { method: 'POST', headers: LIST, body: list });

describe('POST /scans', () => {
  it('captures each target of a list once, as a job with an outcome for each in the order of the list', async () => {
    const { port, closedPort } = hosts;
    const targets = `127.0.0.2-4\n127.0.0.5:${closedPort}\nhttp://127.0.0.6:${port}/x\nbad line`;
    const { id, kind, list } = await accepted(await app.post('/scans', { targets, ports: String(port) }));
    expect([kind, list]).toEqual([
      'scan',
      {
        form: 'lines',
        targets: 5,
        left_out: { invalid: 1 },
        problems: [{ line: 4, text: 'bad line', problem: 'has blanks: give one target on each line' }],
      },
    ]);
    const job = await ended(id);
    expect(job).toMatchObject({
      state: 'completed',
      progress: { done: 5, failed: 1, failed_by: { target_unreachable: 1 }, total: 5 },
    });
    expect(job.results?.map(({ index, result, code }) => [index, result?.url, result?.title, code])).toEqual([
      [0, `http://127.0.0.2:${port}/`, `127.0.0.2:${port}/`, null],
      [1, `http://127.0.0.3:${port}/`, `127.0.0.3:${port}/`, null],
      [2, `http://127.0.0.4:${port}/`, `127.0.0.4:${port}/`, null],
      [3, `http://127.0.0.5:${closedPort}/`, '', 'target_unreachable'],
      [4, `http://127.0.0.6:${port}/x`, `127.0.0.6:${port}/x`, null],
    ]);
  });

  it('lists the captures of a scan, and replays its events, by its id', async () => {
    const { id } = await accepted(
      await send(`http://127.0.0.9:${hosts.port}/a\nhttp://127.0.0.9:${hosts.closedPort}/`),
    );
    await ended(id);
    const Urls = z.object({ data: z.array(z.object({ url: z.string(), scan: z.string() })) });
    const { data } = Urls.parse(await (await app.call(`/results?scan=${id}`)).json());
    expect(data.toSorted((a, b) => b.url.length - a.url.length)).toEqual([
      { url: `http://127.0.0.9:${hosts.port}/a`, scan: id },
      { url: `http://127.0.0.9:${hosts.closedPort}/`, scan: id },
    ]);
    expect(
      (await app.call(`/results?scan=${id}&outcome=failed`).then(async (r) => Urls.parse(await r.json()))).data,
    ).toHaveLength(1);

    const subscriber = await subscribe(`${app.baseUrl}/events?batch=${id}`, { 'Last-Event-ID': '0' });
    const events = await subscriber.take(10);
    expect(events.at(0)).toMatchObject({ event: 'batch.accepted', data: { size: 2 } });
    expect(events.at(-1)).toMatchObject({ event: 'batch.completed', data: { batch: id, done: 2, failed: 1 } });
    await subscriber.close();
    const filtered = await subscribe(`${app.baseUrl}/events?scan=${id}`, { 'Last-Event-ID': '0' });
    expect((await filtered.take(2)).map(({ event }) => event).toSorted()).toEqual(['capture.failed', 'capture.stored']);
    await filtered.close();
  });

  it('marks a capture that was redirected to a page that the scan already has', async () => {
    const at = `http://127.0.0.10:${hosts.port}`;
    const { id } = await accepted(await send(`${at}/\n${at}/to`, '?perHost=1'));
    const [page, moved] = (await ended(id)).results ?? [];
    expect(page).not.toHaveProperty('same_as');
    expect(moved).toMatchObject({ same_as: page?.result?.id, result: { final_url: `${at}/` } });
  });

  it('marks a capture whose redirect comes after the page, which is later in the list', async () => {
    const at = `http://127.0.0.18:${hosts.port}`;
    const { id } = await accepted(await send(`${at}/late\n${at}/`));
    await expect.poll(async () => Job.parse(await (await app.call(`/jobs/${id}`)).json()).data.progress.done).toBe(1);
    redirectLate();
    const [moved, page] = (await ended(id)).results ?? [];
    expect(page).not.toHaveProperty('same_as');
    expect(moved).toMatchObject({ same_as: page?.result?.id, result: { final_url: `${at}/` } });
  });

  it('captures a target once that a list names again', async () => {
    const at = `127.0.0.19:${hosts.port}`;
    const { id, list } = await accepted(
      await send(`http://${at}/\n127.0.0.19-20\nhttp://${at}/\n127.0.0.20`, `?ports=${hosts.port}&schemes=http`),
    );
    expect(list).toMatchObject({ targets: 2, left_out: { duplicate: 3 } });
    const { results, progress } = await ended(id);
    expect(progress).toMatchObject({ done: 2, total: 2 });
    expect(results?.map(({ url }) => url)).toEqual([`http://${at}/`, `http://127.0.0.20:${hosts.port}/`]);
  });

  it('captures a target that is busy once more after its Retry-After, and keeps that capture alone', async () => {
    const { id } = await accepted(await send(`http://127.0.0.11:${hosts.port}/busy`));
    expect(await ended(id)).toMatchObject({ progress: { done: 1 }, results: [{ result: { response_code: 200 } }] });
    expect(busy).toBe(2);
    expect(
      z.object({ data: z.array(z.unknown()) }).parse(await (await app.call(`/results?scan=${id}`)).json()).data,
    ).toHaveLength(1);
  });

  it('reads the sitemaps that a list names, within the egress policy', async () => {
    const host = `127.0.0.17:${hosts.port}`;
    const index = ['http://10.0.0.1/', `http://${host}/sitemap.xml`].map(
      (url) => `<sitemap><loc>${url}</loc></sitemap>`,
    );
    const { id, list } = await accepted(await send(`<sitemapindex>${index.join('')}</sitemapindex>`));
    expect(list).toMatchObject({
      form: 'sitemap',
      targets: 1,
      problems: [{ text: 'http://10.0.0.1/', problem: expect.stringMatching(/^cannot be read: .*10\.0\.0\.1/) }],
    });
    expect((await ended(id)).results?.map(({ url }) => url)).toEqual([`http://${host}/in-sitemap`]);
  });

  it('captures at most --per-host pages of a host at a time, and lets hosts take turns', async () => {
    const pages = Array.from({ length: 6 }, (_, n) => `http://127.0.0.12:${hosts.port}/${n}`);
    const other = `http://127.0.0.13:${hosts.port}/last`;
    const { id } = await accepted(await send([...pages, other].join('\n'), '?perHost=1'));
    await ended(id);
    expect(hosts.most.get(`127.0.0.12:${hosts.port}`)).toBe(1);
    const visited = hosts.visits.filter((url) => /^127\.0\.0\.1[23]:/.test(url));
    expect(visited).toHaveLength(7);
    expect(visited.findIndex((url) => url.endsWith('/last'))).toBeLessThan(3);
  });

  it('takes options of its captures', async () => {
    const capture = JSON.stringify({ viewport: { width: 321, height: 123 }, evidence: ['console'] });
    const { id } = await accepted(
      await send(`http://127.0.0.14:${hosts.port}/`, `?capture=${encodeURIComponent(capture)}`),
    );
    const [line] = (await ended(id)).results ?? [];
    expect(line?.result).toMatchObject({ width: 321, height: 123 });
    const { data } = z
      .object({ data: z.object({ evidence: z.record(z.string(), z.unknown()) }) })
      .parse(await (await app.call(`/results/${line?.result?.id}`)).json());
    expect(data.evidence).toMatchObject({ console: {}, headers: {}, tls: null, redirects: {} });
  });

  it.each([
    ['', 'The list, read as lines, has no target: it is empty.'],
    ['# nothing', 'The list, read as lines, has no target: it is empty.'],
    ['a b', 'has no target: left out: 1 invalid; line 1: "a b" has blanks'],
    ['10.0.0.0/8', 'has 16,777,216 targets: at most 1,048,576 are accepted'],
    ['10.0.0.0/12\n10.16.0.1', 'The list has more than 1,048,576 targets'],
  ])('refuses the list %j', async (list, reason) => {
    const response = await send(list);
    expect(response.status).toBe(400);
    expect(await failureOf(response)).toMatchObject({
      code: 'invalid_request',
      error: expect.stringContaining(reason),
    });
    expect((await app.service.jobs.newest(99)).every(({ state }) => state === 'completed')).toBe(true);
  });

  it.each([
    [
      '?ports=0',
      'ports: must be ports from 1 to 65535 and ranges of them, separated by commas, such as 80,443,8000-8100, not "0"',
    ],
    ['?schemes=ftp', 'schemes: must be https, http, or both with a comma, not "ftp"'],
    ['?perHost=x', 'perHost: must be an integer from 1 to 100'],
    ['?capture=x', 'capture: must be JSON'],
    ['?capture={"url":"a"}', 'capture.url'],
  ])('refuses the parameter %s', async (query, reason) => {
    const response = await send('127.0.0.1', query);
    expect([response.status, (await failureOf(response)).error]).toEqual([400, expect.stringContaining(reason)]);
  });

  it('does not take a type that pages of other origins may send', async () => {
    const response = await app.call('/scans', { method: 'POST', headers: { 'Content-Type': 'text/plain' }, body: 'x' });
    expect(response.status).toBe(415);
  });

  it('ends when it is cancelled', async () => {
    const list = Array.from({ length: 50 }, (_, n) => `http://127.0.0.15:${hosts.port}/${n}`).join('\n');
    const { id } = await accepted(await send(list, '?perHost=1'));
    await expect.poll(() => hosts.visits.some((url) => url.startsWith('127.0.0.15:'))).toBe(true);
    await app.call(`/jobs/${id}`, { method: 'DELETE' });
    expect(await ended(id)).toMatchObject({ state: 'cancelled' });
    await expect.poll(() => app.service.jobs.counts.running).toBe(0);
  });
});
