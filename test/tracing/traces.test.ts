import type { ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { CAPTURE_PHASES } from '../../src/capture/phases.ts';
import { capstan, ground, lineOf, serve } from '../commands/capstan-process.ts';
import { SECRET, startReceiver } from '../receivers/receiver.ts';
import { siteForSuite } from '../support/for-suite.ts';
import { type Collector, type ReceivedSpan, startCollector } from './collector.ts';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const PARENT = 'b7ad6b7169203331';
const Captured = z.object({ data: z.object({ timings: z.record(z.string(), z.number()) }) });

const site = siteForSuite();

/** Runs a service that sends traces; resolves when it has ended, so that everything is sent. */
async function traced(
  collector: Collector,
  args: readonly string[],
  work: (url: string, child: ChildProcess) => Promise<void>,
) {
  const place = await ground();
  const service = await serve(
    ['--otlp-url', collector.url, '--allow-targets', '127.0.0.1', '--db-path', join(place.path, 'r.db'), ...args],
    place.options,
  );
  try {
    await work(service.url, service.child);
  } finally {
    service.child.kill('SIGTERM');
  }
  return await service.ended;
}

function post(url: string, body: unknown, headers: Record<string, string> = {}) {
  return fetch(url, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
}

function named(spans: readonly ReceivedSpan[], name: string): ReceivedSpan {
  const found = spans.find((span) => span.name === name);
  if (found === undefined) throw new Error(`no span ${name} among ${spans.map((span) => span.name).join(', ')}`);
  return found;
}

describe('--otlp-url', () => {
  it('sends the spans of a request, its capture and its message in the trace of the client, and marks failures in a batch', async () => {
    await using collector = await startCollector();
    await using receiver = await startReceiver();
    const secret = ['--webhook', receiver.url, '--webhook-secret', SECRET, '--allow-webhooks', '127.0.0.1'];
    let timings: Readonly<Record<string, number>> = {};
    const { code } = await traced(collector, secret, async (url) => {
      const traceparent = `00-${TRACE}-${PARENT}-01`;
      const response = await post(`${url}/screenshot`, { url: site.url('/short?token=hush') }, { traceparent });
      expect(response.status).toBe(200);
      ({ timings } = Captured.parse(await response.json()).data);
      expect((await fetch(`${url}/results/by-host?host=x`)).status).toBe(200);
      const requests = [{ url: site.url('/short') }, { url: site.url('/download') }];
      expect((await post(`${url}/batch`, { requests })).status).toBe(200);
    });
    expect(code).toBe(0);
    // One process, which is named.
    expect([...collector.instances]).toEqual([expect.stringMatching(/^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/)]);
    expect([...collector.paths]).toEqual(['POST /v1/traces application/json']);

    const spans = collector.spans.filter(({ trace }) => trace === TRACE);
    const request = named(spans, 'POST /screenshot');
    const captured = named(spans, 'capture');
    expect(request.parent).toBe(PARENT);
    expect(request.attributes).toMatchObject({ 'http.route': '/screenshot', 'http.response.status_code': 200 });
    expect(captured.parent).toBe(request.id);
    expect(captured.attributes).toMatchObject({ 'capstan.outcome': 'stored', 'capstan.target.host': '127.0.0.1' });
    const phases = CAPTURE_PHASES.filter((phase) => timings[phase] !== undefined);
    expect(phases).toEqual(expect.arrayContaining(['open', 'navigate', 'load', 'picture']));
    const children = spans.filter(({ parent }) => parent === captured.id);
    expect(children.map(({ name }) => name).toSorted()).toEqual(['queue', ...phases, 'store', 'message'].toSorted());
    const steps = ['queue', ...phases, 'store'].map((name) => named(children, name));
    for (const [index, { start, end }] of steps.entries()) {
      expect(end).toBeGreaterThanOrEqual(start);
      expect(start).toBeGreaterThanOrEqual(steps[index - 1]?.start ?? captured.start);
      expect(end).toBeLessThanOrEqual(captured.end);
    }
    expect(named(children, 'message').attributes).toMatchObject({ 'http.response.status_code': 204 });

    const other = named(collector.spans, 'GET /results/by-host');
    expect(other.trace).not.toBe(TRACE);
    const batch = named(collector.spans, 'POST /batch');
    const ofBatch = collector.spans.filter(({ name, parent }) => name === 'capture' && parent === batch.id);
    expect(ofBatch).toHaveLength(2);
    expect(ofBatch.filter(({ isError }) => isError).map(({ attributes }) => attributes)).toEqual([
      expect.objectContaining({ 'error.type': 'not_a_page', 'capstan.outcome': 'failed' }),
    ]);
    expect(JSON.stringify(collector.spans, (_, value) => String(value))).not.toContain('hush');
    expect(JSON.stringify(collector.spans.map(({ attributes }) => attributes))).not.toContain('hush');
  });

  it('makes Node print no warning about answers that are streams', async () => {
    await using collector = await startCollector();
    const { code, stderr } = await traced(collector, [], async (url) => {
      const headers = { Accept: 'application/json, text/event-stream' };
      const answer = await post(`${url}/mcp`, { jsonrpc: '2.0', id: 1, method: 'tools/list' }, headers);
      expect(await answer.text()).toContain('capture');
      expect((await fetch(`${url}/results/export`)).status).toBe(200);
    });
    expect(code).toBe(0);
    expect(stderr).not.toContain('Warning');
  });

  it('does not hold up captures or the end of the service when the collector is away', async () => {
    const collector = await startCollector();
    await collector[Symbol.asyncDispose]();
    const { code } = await traced(collector, [], async (url, child) => {
      const warned = lineOf(child.stderr, /(traces cannot be sent)/);
      expect((await post(`${url}/screenshot`, { url: site.url('/short') })).status).toBe(200);
      await warned;
    });
    expect(code).toBe(0);
  });

  it('refuses an invalid URL', async () => {
    const { code, stderr } = await capstan(['serve', '--otlp-url', 'collector:4318']);
    expect(code).toBe(2);
    expect(stderr).toMatch(/--otlp-url .* is not valid; it takes an http:\/\/ or https:\/\/ URL/);
  });
});
