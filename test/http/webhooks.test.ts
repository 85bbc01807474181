import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { sentResult } from '../../src/capture/artifacts/artifact-paths.ts';
import type { CapstanEvent } from '../../src/capture/events.ts';
import { DetailedResultSchema } from '../../src/http/answer/schemas.ts';
import { type Receiver, SECRET, startReceiver } from '../receivers/receiver.ts';
import { siteForSuite } from '../support/for-suite.ts';
import { NO_BROWSER, type RunningService, startService } from '../support/service.ts';
import { failureOf } from './answers.ts';

const SIGNED = { webhookSecret: [SECRET], allowWebhooks: ['127.0.0.1'] };
const Stats = z.object({ data: z.object({ messages: z.record(z.string(), z.number()) }) });
const Captured = z.object({ data: DetailedResultSchema.transform(({ evidence: _evidence, ...result }) => result) });
const Items = z.array(z.object({ code: z.string().nullable(), error: z.string().nullable() }));

const site = siteForSuite();
let app: RunningService;
let everything: Receiver;

beforeAll(async () => {
  everything = await startReceiver();
  app = await startService({ ...SIGNED, webhook: [everything.url] });
});

afterAll(async () => {
  await app?.stop();
  await everything?.[Symbol.asyncDispose]();
});

const types = ({ received }: Receiver) => received.map(({ body }) => JSON.parse(body).type).toSorted();
const bodies = ({ received }: Receiver): Record<string, unknown>[] => received.map(({ body }) => JSON.parse(body));

describe('callback', () => {
  it('sends the final event of the capture to the callback, in the form that subscribers get', async () => {
    await using receiver = await startReceiver();
    const heard: CapstanEvent[] = [];
    const listening = app.service.events$.subscribe((event) => void heard.push(event));
    const response = await app.post('/screenshot', { url: site.url('/short'), callback: receiver.url });
    const { data } = Captured.parse(await response.json());
    await expect.poll(() => receiver.received).toHaveLength(1);
    const stored = heard.find((event) => event.type === 'capture.stored');
    const sent = stored && { v: 1, ...stored, result: sentResult(stored.result) };
    expect(bodies(receiver)).toEqual([sent]);
    expect(sent).toMatchObject({ id: data.id, result: data });
    expect(receiver.received[0]?.headers).toMatchObject({
      'webhook-id': expect.stringMatching(/^msg_/),
      'webhook-timestamp': expect.stringMatching(/^\d{10}$/),
      'webhook-signature': expect.stringMatching(/^v1,.{44}$/),
    });
    await expect
      .poll(() => heard)
      .toContainEqual(
        expect.objectContaining({
          type: 'message.delivered',
          capture: data.id,
          receiver: new URL(receiver.url).host,
        }),
      );
    expect(JSON.stringify(heard)).not.toContain('key=k');
    listening.unsubscribe();
  });

  it('sends failures to the callback, too', async () => {
    await using receiver = await startReceiver();
    const response = await app.post('/screenshot', { url: 'http://127.0.0.1:9/', callback: receiver.url });
    expect(response.status).toBe(403);
    const failing = await app.post('/screenshot', { url: site.url('/download'), callback: receiver.url });
    expect(failing.status).toBe(422);
    await expect.poll(() => types(receiver)).toEqual(['capture.failed']);
  });

  it('sends the end of a batch to the callback of the batch, or that of an item to its own callback', async () => {
    await using ofBatch = await startReceiver();
    await using ofItem = await startReceiver();
    const requests = [{ url: site.url('/short'), callback: ofItem.url }, { url: 'http://10.0.0.1/' }];
    await app.post('/batch', { requests, callback: ofBatch.url });
    await expect
      .poll(() => bodies(ofBatch))
      .toEqual([expect.objectContaining({ type: 'batch.completed', size: 2, done: 2, failed: 1 })]);
    await expect.poll(() => types(ofItem)).toEqual(['capture.stored']);
  });

  it('accepts callback as a query parameter for a batch of lines', async () => {
    await using ofBatch = await startReceiver();
    const answer = await app.call(`/batch?callback=${encodeURIComponent(ofBatch.url)}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/x-ndjson' },
      body: `${JSON.stringify({ url: 'http://10.0.0.1/' })}\n`,
    });
    await answer.text();
    await expect.poll(() => types(ofBatch)).toEqual(['batch.completed']);
  });

  it('rejects a callback whose address is not allowed, before anything is captured', async () => {
    const url = site.url('/short');
    const callback = 'http://10.0.0.1/hook';
    const before = app.service.stats().captures.accepted;
    const single = await app.post('/screenshot', { url, callback });
    expect(single.status).toBe(403);
    expect(await failureOf(single)).toMatchObject({
      code: 'target_forbidden',
      error: expect.stringMatching(/^callback: .*--allow-webhooks/),
    });
    const batch = await app.post('/batch', { requests: [{ url }], callback });
    expect(batch.status).toBe(403);
    expect(await failureOf(batch)).toMatchObject({ code: 'target_forbidden' });
    const headers = { Accept: 'application/x-ndjson' };
    const asLines = await app.post('/batch', { requests: [{ url }], callback }, { headers });
    expect(asLines.status).toBe(403);
    expect(await failureOf(asLines)).toMatchObject({ code: 'target_forbidden' });
    const sentLines = await app.call(`/batch?callback=${encodeURIComponent(callback)}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/x-ndjson' },
      body: `${JSON.stringify({ url })}\n`,
    });
    expect(sentLines.status).toBe(403);
    const item = await app.post('/batch', { requests: [{ url, callback }] });
    expect(Items.parse(await item.json())).toEqual([
      expect.objectContaining({ code: 'target_forbidden', error: expect.stringMatching(/^callback: /) }),
    ]);
    expect(app.service.stats().captures.accepted).toBe(before);
  });

  it('calls the callback of a request with Prefer: respond-async', async () => {
    await using ofBatch = await startReceiver();
    const init = { headers: { Prefer: 'respond-async' } };
    const requests = [{ url: site.url('/short') }];
    const forbidden = await app.post('/batch', { requests, callback: 'http://10.0.0.1/' }, init);
    expect(forbidden.status).toBe(403);
    const accepted = await app.post('/batch', { requests, callback: ofBatch.url }, init);
    expect(accepted.status).toBe(202);
    await expect.poll(() => types(ofBatch)).toEqual(['batch.completed']);
    await using ofCapture = await startReceiver();
    await app.post('/screenshot', { ...requests[0], callback: ofCapture.url }, init);
    await expect.poll(() => types(ofCapture)).toEqual(['capture.stored']);
    await using ofNothing = await startReceiver();
    await app.post('/batch', { requests: [], callback: ofNothing.url }, init);
    await expect.poll(() => types(ofNothing)).toEqual(['batch.completed']);
  });

  it('rejects a private callback that --allow-targets would allow as a target', async () => {
    const closed = await startService({ ...NO_BROWSER, webhookSecret: [SECRET], allowTargets: ['127.0.0.1'] });
    const body = { url: site.url('/short'), callback: 'http://127.0.0.1:8000/' };
    const refused = await closed.post('/screenshot', body);
    expect(refused.status).toBe(403);
    await closed.stop();
  });

  it.each(['ftp://example.com/', 'example.com', 'http://', 17])(
    'refuses %j, which is not an HTTP URL',
    async (callback) => {
      const refused = await app.post('/screenshot', { url: site.url('/short'), callback });
      expect(refused.status).toBe(400);
      expect((await failureOf(refused)).data?.problems).toEqual([{ path: 'callback' }]);
    },
  );

  it('refuses a callback with credentials that cannot be sent', async () => {
    const callback = 'https://a%zz@example.com/';
    const single = await app.post('/screenshot', { url: site.url('/short'), callback });
    expect(single.status).toBe(400);
    expect(await failureOf(single)).toMatchObject({
      error: expect.stringContaining('a user or password that is not percent-encoded'),
      data: { problems: [{ path: 'callback' }] },
    });
    const batch = await app.post('/batch', { requests: [{ url: site.url('/short') }], callback });
    expect(batch.status).toBe(400);
  });

  it('rejects a callback when the service has no secret to sign with', async () => {
    const unsigned = await startService(NO_BROWSER);
    const callback = 'https://example.com/';
    const single = await unsigned.post('/screenshot', { url: 'https://example.com/', callback });
    expect(single.status).toBe(400);
    expect(await failureOf(single)).toMatchObject({
      code: 'invalid_request',
      error: expect.stringContaining('--webhook-secret'),
      data: { problems: [{ path: 'callback' }] },
    });
    const batch = await unsigned.post('/batch', { requests: [{ url: 'https://example.com/', callback }] });
    expect(batch.status).toBe(400);
    expect((await failureOf(batch)).data?.problems).toEqual([{ path: 'requests[0].callback' }]);
    const lines = await unsigned.call(`/batch?callback=${callback}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/x-ndjson' },
      body: '{}\n',
    });
    expect(lines.status).toBe(400);
    await unsigned.stop();
  });
});

describe('--webhook', () => {
  it('sends the final events of captures and batches', async () => {
    const before = everything.received.length;
    await app.post('/screenshot', { url: site.url('/short') });
    await app.post('/screenshot', { url: 'http://10.0.0.1/' });
    await app.post('/batch', { requests: [{ url: 'http://10.0.0.1/' }] });
    await expect
      .poll(() =>
        bodies(everything)
          .slice(before)
          .map(({ type }) => type)
          .toSorted(),
      )
      .toEqual(['batch.completed', 'capture.rejected', 'capture.stored']);
  });

  it('counts deliveries in /stats', async () => {
    await expect.poll(() => app.service.stats().messages.pending).toBe(0);
    const { data } = Stats.parse(await (await app.call('/stats')).json());
    expect(data.messages).toEqual({ delivered: expect.any(Number), failed: 0, dropped: 0, pending: 0 });
    expect(data.messages.delivered).toBeGreaterThanOrEqual(everything.received.length);
  });

  it('does not delay captures when a receiver hangs, and delivers within the grace period of a stop', async () => {
    const gate = Promise.withResolvers<void>();
    await using slow = await startReceiver(async (response) => {
      await gate.promise;
      response.writeHead(204).end();
    });
    const kept = await startService({ ...SIGNED, webhook: [slow.url] });
    const outcomes: CapstanEvent[] = [];
    kept.service.events$.subscribe((event) => void outcomes.push(event));
    const requests = Array.from({ length: 6 }, () => ({ url: site.url('/short') }));
    const answer = await kept.post('/batch', { requests });
    expect(Items.parse(await answer.json()).map(({ code }) => code)).toEqual(requests.map(() => null));
    // Six captures and their batch cause seven messages, of which at most four are sent at once.
    await expect.poll(() => slow.received).toHaveLength(4);
    await expect.poll(() => kept.service.stats().messages).toMatchObject({ delivered: 0, pending: 7 });
    const stopped = kept.service.stop(60_000);
    await expect.poll(() => kept.service.stats().captures.inside).toBe(0);
    gate.resolve();
    await stopped;
    expect(slow.received).toHaveLength(7);
    expect(outcomes.filter(({ type }) => type === 'message.delivered')).toHaveLength(7);
    await kept.stop();
  });

  it('prevents the start when the address is not allowed or cannot be read, or no secret is set', async () => {
    const starting = startService({ ...NO_BROWSER, webhookSecret: [SECRET], webhook: ['http://10.0.0.1/'] });
    await expect(starting).rejects.toThrow(/--webhook is not allowed: 10\.0\.0\.1 is not public .*--allow-webhooks/);
    const unreadable = startService({ ...NO_BROWSER, webhookSecret: [SECRET], webhook: ['http://a%zz@127.0.0.1/'] });
    await expect(unreadable).rejects.toThrow('--webhook: the address has a user or password');
    const unsigned = startService({ ...NO_BROWSER, webhook: ['https://example.com/'] });
    await expect(unsigned).rejects.toThrow('--webhook-secret');
  });
});
