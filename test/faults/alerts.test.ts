import { readFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, type ExpectStatic, expect, it } from 'vitest';
import { firstIdAt } from '../../src/storage/records/ids.ts';
import { serversForSuite, whyNoCluster } from '../cluster/cluster-of-processes.ts';
import { nodesOf } from '../cluster/nodes.ts';
import { ground, serve } from '../commands/capstan-process.ts';
import { SECRET, startReceiver, statuses } from '../receivers/receiver.ts';
import { openParts } from '../storage/parts.ts';
import { captureOf } from '../storage/result-of.ts';
import { siteForSuite } from '../support/for-suite.ts';
import { type RunningPrometheus, startPrometheus, whyNoPrometheus } from '../support/prometheus.ts';
import { NO_BROWSER, type RunningService, serviceConfig, startService } from '../support/service.ts';
import { makeDirectory } from '../support/temporary-directory.ts';
import { mountSmallDisk, whyNoTmpfs } from './tmpfs.ts';

const RULES = readFileSync(join(import.meta.dirname, '../../examples/prometheus/alerts.yml'), 'utf8');
const POLL = { interval: 200 };

const whyNot = await whyNoPrometheus();
const reason = whyNot === undefined ? '' : ` (skipped: ${whyNot})`;
const whyAlone = await whyNoCluster();

/** Returns the expression of an alert. How long it must hold is tested in alerts.test.yml. */
function expressionOf(alert: string): string {
  const [, expression] =
    new RegExp(`- alert: ${alert}\\n +expr: (?:\\|\\n)?([^]+?)\\n +(?:for|labels):`).exec(RULES) ?? [];
  if (expression === undefined) throw new Error(`there is no alert ${alert}`);
  return expression;
}

async function expectSilent(prometheus: RunningPrometheus, alerts: readonly string[]): Promise<void> {
  for (const alert of alerts) expect(await prometheus.query(expressionOf(alert)), alert).toEqual([]);
}

/** `by`: that of the test, because tests run at the same time. */
function firing(by: ExpectStatic, prometheus: RunningPrometheus, alert: string) {
  return by.poll(async () => (await prometheus.query(expressionOf(alert))).length, { ...POLL, message: alert });
}

describe.skipIf(whyNot !== undefined)(`alerts, by their causes, in a real Prometheus${reason}`, () => {
  const site = siteForSuite();

  it.concurrent('notices a database that is away: reads fail, the outbox grows and the event log lags', async ({
    expect,
  }) => {
    const app = await startService();
    try {
      await using prometheus = await startPrometheus(app.baseUrl);
      const alerts = ['CapstanCannotRead', 'CapstanDatabaseUnavailable', 'CapstanOutboxGrows', 'CapstanEventLogLags'];
      await expectSilent(prometheus, alerts);
      await app.loseDatabase();
      await firing(expect, prometheus, 'CapstanCannotRead').toBe(1);
      await firing(expect, prometheus, 'CapstanDatabaseUnavailable').toBe(1);
      expect((await app.call('/readyz/reads')).status).toBe(503);
      expect(await (await app.call('/readyz/any')).json()).toMatchObject({ data: { degraded: ['database'] } });
      expect((await app.post('/screenshot', { url: site.url('/short') })).status).toBe(200);
      await firing(expect, prometheus, 'CapstanOutboxGrows').toBe(1);
      // Each refusal is an event.
      await Promise.all(Array.from({ length: 120 }, () => app.post('/screenshot', { url: 'http://10.0.0.1/' })));
      await firing(expect, prometheus, 'CapstanEventLogLags').toBe(1);
    } finally {
      await app.stop();
    }
  });

  const capture = async (app: RunningService, path: string, timeoutMs = 30_000) => {
    const answer = await app.post('/screenshot', { url: site.url(path), timeoutMs });
    await answer.arrayBuffer();
    return answer.status;
  };

  it.concurrent('notices crashing browsers, and webhooks that are given up', async ({ expect }) => {
    await using receiver = await startReceiver(statuses(410));
    const hooks = { webhook: [receiver.url], webhookSecret: [SECRET], allowWebhooks: ['127.0.0.1'] };
    const app = await startService(hooks, { maxTimeoutMs: 60_000 });
    try {
      await using prometheus = await startPrometheus(app.baseUrl);
      await expectSilent(prometheus, ['CapstanBrowsersCrash', 'CapstanMessagesFail']);
      for (let crashes = 1; crashes <= 5; crashes += 1) {
        // Each starts a browser, beside the tests of other files.
        expect(await capture(app, '/short', 60_000)).toBe(200);
        for (const { pid } of app.service.stats().pool.browsers) process.kill(pid, 'SIGKILL');
        await expect.poll(() => app.service.stats().pool.crashes, POLL).toBe(crashes);
      }
      await firing(expect, prometheus, 'CapstanBrowsersCrash').toBe(1);
      await firing(expect, prometheus, 'CapstanMessagesFail').toBe(1);
    } finally {
      await app.stop();
    }
  });

  it.concurrent('notices refused, waiting and failing captures', async ({ expect }) => {
    const limits = { maxConcurrent: 1, maxQueue: 8 };
    const app = await startService(limits, { maxTimeoutMs: 60_000 });
    try {
      await using prometheus = await startPrometheus(app.baseUrl);
      const alerts = ['CapstanQueueNearlyFull', 'CapstanRefusesCaptures', 'CapstanLongWaits', 'CapstanCapturesFail'];
      await expectSilent(prometheus, alerts);
      // One capture keeps the others waiting for longer than half a minute.
      const long = capture(app, '/hang', 32_000);
      await expect.poll(() => site.hits('/hang'), POLL).toBe(1);
      const waiting = Array.from({ length: limits.maxQueue }, () => capture(app, '/hang', 1000));
      await firing(expect, prometheus, 'CapstanQueueNearlyFull').toBe(1);
      await expect.poll(() => capture(app, '/hang'), POLL).toBe(429);
      await firing(expect, prometheus, 'CapstanRefusesCaptures').toBe(1);
      await firing(expect, prometheus, 'CapstanLongWaits').toBe(1);
      await firing(expect, prometheus, 'CapstanCapturesFail').toBe(1);
      expect(new Set(await Promise.all([long, ...waiting]))).toEqual(new Set([504]));
    } finally {
      await app.stop();
    }
  });

  it.concurrent('notices an outbox that fills, a service that cannot capture, and one that has ended', async ({
    expect,
  }) => {
    const directory = await makeDirectory();
    // No database can be opened in this place.
    await mkdir(join(directory, 'results.db'));
    const before = await openParts(directory);
    const first = firstIdAt(new Date());
    const ids = Array.from({ length: 1001 }, (_, at) => first + at);
    await Promise.all(ids.map((id) => before.captureStore.keep(captureOf(id, { failed: true }), null)));
    await before.close();
    const { dbPath, dataDir } = serviceConfig(directory);
    const app = await startService({ ...NO_BROWSER, dbPath, dataDir });
    try {
      await using prometheus = await startPrometheus(app.baseUrl);
      await expectSilent(prometheus, ['CapstanDown']);
      await firing(expect, prometheus, 'CapstanOutboxFills').toBe(1);
      expect((await app.post('/screenshot', { url: site.url('/short') })).status).toBe(503);
      await firing(expect, prometheus, 'CapstanNotReady').toBe(1);
      await app.stop();
      await firing(expect, prometheus, 'CapstanDown').toBe(1);
    } finally {
      await app.stop();
    }
  });

  it.concurrent('notices a nearly full disk, and log lines that cannot be written', {
    skip: whyNoTmpfs !== undefined,
  }, async ({ expect }) => {
    const place = await ground();
    const path = join(place.path, 'small');
    await mkdir(path);
    await using disk = await mountSmallDisk(path, 4096);
    const flags = ['--data-dir', join(path, 'data'), '--db-path', 'results.db', '--log-file', join(path, 'log')];
    const service = await serve([...flags, '--browser-path', NO_BROWSER.browserPath], place.options);
    try {
      await using prometheus = await startPrometheus(service.url);
      await expectSilent(prometheus, ['CapstanDiskNearlyFull', 'CapstanLogLinesDropped']);
      await disk.fill();
      await firing(expect, prometheus, 'CapstanDiskNearlyFull').toBe(1);
      // The log keeps 1 MiB of lines that cannot be written.
      const long = `${service.url}/${'x'.repeat(50_000)}`;
      await Promise.all(Array.from({ length: 40 }, () => fetch(long)));
      await firing(expect, prometheus, 'CapstanLogLinesDropped').toBe(1);
    } finally {
      service.child.kill('SIGKILL');
      await service.ended;
    }
  });
});

describe.skipIf(whyNot !== undefined || whyAlone !== undefined)('alerts of a cluster, by their causes', () => {
  const servers = serversForSuite();

  it('notices lost workers, no slots, and NATS that is away', async () => {
    await using nodes = await nodesOf(servers, 'alerts');
    const api = await nodes.api();
    await using prometheus = await startPrometheus(api.baseUrl);
    await firing(expect, prometheus, 'CapstanNoSlots').toBe(1);
    expect(await (await api.call('/readyz')).json()).toMatchObject({ code: 'cluster_unavailable' });
    expect(await (await api.call('/readyz/any')).json()).toMatchObject({ data: { degraded: ['captures'] } });
    const [one, two] = await Promise.all([nodes.worker(), nodes.worker()]);
    await firing(expect, prometheus, 'CapstanNoSlots').toBe(0);
    await expect.poll(() => api.service.readiness.ready).toBe(true);
    await expect.poll(() => api.service.stats().cluster?.workers).toBe(2);
    // The alert compares with what Prometheus has seen.
    await expect
      .poll(async () => (await prometheus.query('capstan_cluster_processes{role="worker"} == 2')).length)
      .toBe(1);
    await two.stop(0);
    await firing(expect, prometheus, 'CapstanFewerWorkers').toBe(1);
    await one.stop(0);
    await firing(expect, prometheus, 'CapstanNoSlots').toBe(1);
    await servers.nats.kill();
    await firing(expect, prometheus, 'CapstanNatsAway').toBe(1);
    expect((await api.call('/readyz/reads')).status).toBe(200);
    await servers.nats.start();
    await firing(expect, prometheus, 'CapstanNatsAway').toBe(0);
  });
});
