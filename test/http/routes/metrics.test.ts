import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { ServiceStatsSchema } from '../../../src/capture/operation/stats.ts';
import { type Metric, parseMetrics, valuesBy } from '../../metrics/prometheus-text.ts';
import { type Receiver, SECRET, startReceiver } from '../../receivers/receiver.ts';
import { siteForSuite } from '../../support/for-suite.ts';
import { freePort } from '../../support/free-port.ts';
import { promtool, startPrometheus, whyNoPrometheus } from '../../support/prometheus.ts';
import { type RunningService, startService } from '../../support/service.ts';

const EXAMPLES = join(import.meta.dirname, '../../../examples/prometheus');
const Stats = z.object({ data: ServiceStatsSchema });
const Dashboard = z.object({
  panels: z.array(z.object({ title: z.string(), targets: z.array(z.object({ expr: z.string() })) })),
});

const missing = await whyNoPrometheus();
const site = siteForSuite();
let receiver: Receiver;
let app: RunningService;

beforeAll(async () => {
  receiver = await startReceiver();
  app = await startService({
    maxConcurrent: 2,
    maxQueue: 4,
    webhook: [receiver.url],
    webhookSecret: [SECRET],
    allowWebhooks: ['127.0.0.1'],
  });
});

afterAll(async () => {
  await app?.stop();
  await receiver?.[Symbol.asyncDispose]();
});

/** Makes captures of every outcome, a batch, a job, a reuse, refusals and webhooks. Resolves when all have ended. */
async function mixedWork(): Promise<void> {
  const away = `http://127.0.0.1:${await freePort()}/`;
  const leaving = new AbortController();
  const left = app.post('/screenshot', { url: site.url('/hang') }, { signal: leaving.signal }).catch(() => undefined);
  await expect.poll(() => app.service.stats().captures.inside).toBe(1);
  leaving.abort();
  await left;
  await app.post('/screenshot', { url: site.url('/short') });
  await app.post('/screenshot', { url: site.url('/short'), cacheMaxAgeMs: 60_000 });
  await Promise.all([
    app.post('/screenshot', { url: away }),
    app.post('/screenshot', { url: site.url('/download') }),
    app.post('/screenshot', { url: site.url('/hang'), timeoutMs: 400 }),
    app.post('/screenshot', { url: 'http://10.0.0.1/' }),
    app.post('/batch', { requests: [{ url: site.url('/404') }, { url: 'http://10.0.0.2/' }] }),
  ]);
  const job = await app.post('/screenshot', { url: site.url('/short') }, { headers: { Prefer: 'respond-async' } });
  expect(job.status).toBe(202);
  const flood = Array.from({ length: 12 }, () => app.post('/screenshot', { url: site.url('/short') }));
  expect((await Promise.all(flood)).map(({ status }) => status)).toContain(429);
  await expect
    .poll(() => {
      const { captures, jobs, messages } = app.service.stats();
      return [captures.inside, jobs.completed - jobs.added, jobs.running, messages.pending];
    })
    .toEqual([0, 0, 0, 0]);
}

async function scrape(): Promise<readonly Metric[]> {
  const response = await app.call('/metrics');
  expect(response.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
  return parseMetrics(await response.text());
}

describe('GET /metrics', () => {
  it('agrees with /stats and the event log after mixed work', async () => {
    await mixedWork();
    const metrics = await scrape();
    const stats = Stats.parse(await (await app.call('/stats')).json()).data;
    const { stored, failed, timed_out, cancelled, rejected, refused, reused, accepted } = stats.captures;
    expect(Math.min(stored, failed, timed_out, cancelled, refused, reused)).toBeGreaterThan(0);

    expect(valuesBy(metrics, 'capstan_captures_total', 'outcome')).toEqual({
      stored,
      failed,
      timed_out,
      cancelled,
      rejected,
    });
    expect(valuesBy(metrics, 'capstan_captures_accepted_total')).toEqual({ '': accepted });
    expect(valuesBy(metrics, 'capstan_captures_reused_total')).toEqual({ '': reused });
    expect(sum(valuesBy(metrics, 'capstan_capture_rejections_total', 'reason'))).toBe(rejected + refused);
    expect(sum(valuesBy(metrics, 'capstan_capture_failures_total', 'code'))).toBe(failed + timed_out);
    expect(valuesBy(metrics, 'capstan_messages_total', 'outcome')).toEqual({
      delivered: stats.messages.delivered,
      failed: stats.messages.failed,
    });
    expect(valuesBy(metrics, 'capstan_jobs_ended_total', 'state')).toEqual({ completed: 1, failed: 0, cancelled: 0 });
    expect(valuesBy(metrics, 'capstan_artifact_written_bytes_total', 'kind')).toEqual(stats.store.written);
    expect(stats.store.written.image).toBeGreaterThan(1000);
    expect(valuesBy(metrics, 'capstan_browser_launches_total')).toEqual({ '': stats.pool.launches });
    const captureRefusals = metrics.filter(
      ({ name, labels }) => name === 'capstan_egress_refusals_total' && labels.traffic === 'captures',
    );
    expect(valuesBy(captureRefusals, 'capstan_egress_refusals_total', 'reason')).toEqual(stats.egress.captures);
    expect(stats.egress.captures.address).toBeGreaterThanOrEqual(2);

    const logged = await eventCounts();
    expect(valuesBy(metrics, 'capstan_events_total', 'type')).toEqual(logged);
    expect(valuesBy(metrics, 'capstan_queue_wait_seconds_count')).toEqual({ '': logged['capture.started'] });
    expect(valuesBy(metrics, 'capstan_capture_duration_seconds_count', 'outcome')).toEqual({
      stored,
      failed,
      timed_out,
    });
    expect(valuesBy(metrics, 'capstan_message_delivery_seconds_count')).toEqual({ '': logged['message.delivered'] });
    const buckets = metrics
      .filter(({ name }) => name === 'capstan_queue_wait_seconds_bucket')
      .map(({ value }) => value);
    expect(buckets).toEqual(buckets.toSorted((a, b) => a - b));
    expect(buckets.at(-1)).toBe(logged['capture.started']);
  });

  it('uses no label whose values clients choose', async () => {
    const metrics = await scrape();
    const own = metrics.filter(({ name }) => name.startsWith('capstan_'));
    expect([...new Set(own.flatMap(({ labels }) => Object.keys(labels)))].toSorted()).toEqual([
      'cause',
      'code',
      'kind',
      'le',
      'node_version',
      'outcome',
      'phase',
      'reason',
      'state',
      'traffic',
      'type',
      'verdict',
      'version',
    ]);
    expect(JSON.stringify(metrics)).not.toMatch(/127\.0\.0\.1|http/);
  });

  it('answers in OpenMetrics to clients that prefer it', async () => {
    const accept = 'application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5,*/*;q=0.1';
    const response = await app.call('/metrics', { headers: { Accept: accept } });
    expect(response.headers.get('content-type')).toBe('application/openmetrics-text; version=1.0.0; charset=utf-8');
    const text = await response.text();
    expect(text).toContain('# TYPE capstan_captures counter\ncapstan_captures_total{outcome="stored"}');
    expect(text.endsWith('\n# EOF\n')).toBe(true);
    expect(await (await app.call('/metrics')).text()).toContain('# TYPE capstan_captures_total counter\n');
  });

  it.skipIf(missing)('returns metrics that pass the linter of Prometheus', async () => {
    const text = await (await app.call('/metrics')).text();
    expect(await promtool(['check', 'metrics'], text)).toEqual({ code: 0, text: '' });
  });

  it.skipIf(missing)('gives each query of the example dashboard a value in a real Prometheus', async () => {
    await using prometheus = await startPrometheus(app.baseUrl);
    const { panels } = Dashboard.parse(JSON.parse(readFileSync(join(EXAMPLES, 'dashboard.json'), 'utf8')));
    const queries = panels
      // Only members of a cluster have these values: see test/faults/alerts.test.ts.
      .filter(({ title }) => title !== 'Cluster')
      .flatMap(({ title, targets }) => targets.map(({ expr }) => ({ title, expr })));
    expect(queries.length).toBeGreaterThan(20);
    // This work falls within the window of the rates, so that quotients and quantiles have observations.
    await mixedWork();
    const filled = (expr: string) => expr.replaceAll('$__rate_interval', '1m').replaceAll('$instance', '.*');
    await expect
      .poll(async () => {
        const answers = await Promise.all(
          queries.map(async ({ title, expr }) => ({ title, expr, result: await prometheus.query(filled(expr)) })),
        );
        return answers.filter(({ result }) => result.length === 0 || result.every(({ value }) => value[1] === 'NaN'));
      })
      .toEqual([]);
    const stats = app.service.stats();
    await expect
      .poll(async () => (await prometheus.query('capstan_captures_total{outcome="stored"}'))[0]?.value[1])
      .toBe(String(stats.captures.stored));
  });
});

describe('examples/prometheus', () => {
  it.skipIf(missing)('configures Prometheus validly', async () => {
    expect(await promtool(['check', 'config', join(EXAMPLES, 'prometheus.yml')])).toMatchObject({ code: 0 });
  });

  it.skipIf(missing)('fires each alert in its situation, and only then', async () => {
    const rules = readFileSync(join(EXAMPLES, 'alerts.yml'), 'utf8');
    const tests = readFileSync(join(EXAMPLES, 'alerts.test.yml'), 'utf8');
    const names = [...rules.matchAll(/- alert: (\w+)/g)].map(([, name]) => name);
    expect(names).toHaveLength(18);
    for (const name of names) expect(tests).toContain(`name: ${name}, silent`);
    expect(await promtool(['test', 'rules', join(EXAMPLES, 'alerts.test.yml')])).toMatchObject({ code: 0 });
  });
});

function sum(values: Readonly<Record<string, number>>): number {
  return Object.values(values).reduce((total, value) => total + value, 0);
}

async function eventCounts(): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  const { events } = await app.service.feed.after(0, 100_000);
  for (const { type } of events) counts[type] = (counts[type] ?? 0) + 1;
  return counts;
}
