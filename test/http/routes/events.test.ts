import { once } from 'node:events';
import { connect } from 'node:net';
import { lastValueFrom, Subject, toArray } from 'rxjs';
import { afterEach, describe, expect, it } from 'vitest';
import type { CapstanEvent } from '../../../src/capture/events.ts';
import { openEventFeed } from '../../../src/feed/event-feed.ts';
import type { CaptureService } from '../../../src/service/create-service.ts';
import { OwnEventLog } from '../../../src/storage/records/own-event-log.ts';
import { captureRequest } from '../../support/capture-request.ts';
import { serviceForSuite } from '../../support/for-suite.ts';
import { type RunningApp, serve } from '../../support/serve.ts';
import { NO_BROWSER, startService } from '../../support/service.ts';
import { failureOf } from '../answers.ts';
import { hostsOf, subscribe, type TestSubscriber, typesOf } from '../event-subscriber.ts';

/** Without a browser, a batch retries a capture until its deadline. This deadline leaves time for only one attempt. */
const ONE_ATTEMPT = { timeoutMs: 400 };

const app = serviceForSuite(NO_BROWSER);
const subscribers: TestSubscriber[] = [];

afterEach(async () => {
  await Promise.all(subscribers.splice(0).map((subscriber) => subscriber.close()));
});

async function listenTo(
  query = '',
  headers: Record<string, string> = {},
  to: Pick<RunningApp, 'baseUrl'> = app,
): Promise<TestSubscriber> {
  const subscriber = await subscribe(`${to.baseUrl}/events${query}`, headers);
  subscribers.push(subscriber);
  return subscriber;
}

/** Emits queued, started and failed, because there is no browser; or rejected, when the target is a private address. */
async function capture(url: string, service: CaptureService = app.service): Promise<void> {
  await lastValueFrom(service.submit(captureRequest(url)), { defaultValue: undefined }).catch(() => {});
}

describe('GET /events', () => {
  it('sends each event with an increasing id, a type and a versioned JSON body', async () => {
    const subscriber = await listenTo('?type=capture.*');
    expect(subscriber.response.headers.get('content-type')).toBe('text/event-stream');
    expect(subscriber.response.headers.get('cache-control')).toBe('no-store');
    expect(subscriber.response.headers.get('x-accel-buffering')).toBe('no');
    await capture('https://one.example/');
    await capture('https://two.example/');
    const events = await subscriber.take(6);
    const types = ['capture.queued', 'capture.started', 'capture.failed'];
    expect(typesOf(events)).toEqual([...types, ...types]);
    expect(hostsOf(events)).toEqual([...Array(3).fill('one.example'), ...Array(3).fill('two.example')]);
    expect(events.map(({ data }) => data)).toMatchObject(
      [...types, ...types].map((type) => ({ v: 1, type, at: expect.any(String), id: expect.any(Number), batch: null })),
    );
    const ids = events.map(({ id }) => Number(id));
    expect(ids).toEqual([...new Set(ids)].toSorted((a, b) => a - b));
    expect(ids.every(Number.isSafeInteger)).toBe(true);
  });

  it('does not count a subscription as a capture', async () => {
    const before = app.service.stats().captures;
    await listenTo();
    expect(app.service.stats().captures).toEqual(before);
  });

  it('filters by type: repeated parameters, lists and groups', async () => {
    const failed = await listenTo('?type=capture.failed');
    const listed = await listenTo('?type=capture.queued,%20capture.failed');
    const repeated = await listenTo('?type=batch.completed&type=capture.started');
    const group = await listenTo('?type=batch.*');
    await lastValueFrom(
      app.service.submitBatch([captureRequest('https://typed.example/', ONE_ATTEMPT)]).pipe(toArray()),
    );
    expect(typesOf([await failed.event()])).toEqual(['capture.failed']);
    expect(typesOf(await listed.take(2))).toEqual(['capture.queued', 'capture.failed']);
    expect(typesOf(await repeated.take(2))).toEqual(['capture.started', 'batch.completed']);
    expect(typesOf(await group.take(3))).toEqual(['batch.accepted', 'batch.progress', 'batch.completed']);
  });

  it('filters by host as by-host does', async () => {
    const subscriber = await listenTo('?type=capture.queued&host=Example.com');
    for (const host of ['notexample.com', 'example.com', 'www.example.com', 'example.org', 'example.com.au'])
      await capture(`https://${host}/`);
    expect(hostsOf(await subscriber.take(3))).toEqual(['example.com', 'www.example.com', 'example.com.au']);
  });

  it('filters by batch', async () => {
    const all = await listenTo('?type=batch.accepted');
    const two = ['https://batch.example/', 'https://batch.example/2'].map((url) => captureRequest(url, ONE_ATTEMPT));
    await lastValueFrom(app.service.submitBatch(two).pipe(toArray()));
    await capture('https://batch.example/single');
    await lastValueFrom(app.service.submitBatch(two).pipe(toArray()));
    const [first, second] = await all.take(2);
    const { batch } = Object(second?.data);
    const replayed = await listenTo(`?batch=${batch}&lastEventId=${first?.id}`);
    const events = await replayed.take(10);
    expect(new Set(events.map(({ data }) => Object(data).batch))).toEqual(new Set([batch]));
    expect(typesOf(events).at(0)).toBe('batch.accepted');
    expect(typesOf(events)).toContain('batch.completed');
  });

  it.each([
    ['?type=capture.eaten', 'type'],
    ['?type=', 'type'],
    ['?host=', 'host'],
    ['?batch=%20', 'batch'],
    ['?host=a&host=b', 'host'],
    ['?lastEventId=newest', 'lastEventId'],
    ['?lastEventId=9999999999999999', 'lastEventId'],
  ])('answers %s with 400 and names the field', async (query, path) => {
    const response = await app.call(`/events${query}`);
    expect(response.status).toBe(400);
    expect(await failureOf(response)).toMatchObject({ code: 'invalid_request', data: { problems: [{ path }] } });
  });

  it('answers an invalid Last-Event-ID with 400 and names the header', async () => {
    const response = await app.call('/events', { headers: { 'Last-Event-ID': 'x' } });
    expect(await failureOf(response)).toMatchObject({ data: { problems: [{ path: 'Last-Event-ID' }] } });
  });

  it('answers HEAD with headers and no body', async () => {
    const response = await app.call('/events', { method: 'HEAD' });
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('text/event-stream');
    expect(await response.text()).toBe('');
  });

  it('requires the API key', async () => {
    const keyed = await serve(app.service, { apiKey: ['secret'] });
    expect((await keyed.call('/events')).status).toBe(401);
    const subscriber = await listenTo('', { 'X-API-Key': 'secret' }, keyed);
    expect(subscriber.response.status).toBe(200);
    await subscriber.close();
    await keyed.close();
  });

  it('keeps a silent connection open past all timeouts with comments, which carry the newest event id', async () => {
    const quick = await serve(app.service, { events: { keepAliveMs: 30 } });
    const subscriber = await listenTo('?type=browser.crashed', {}, quick);
    await capture('https://unseen.example/');
    await expect.poll(async () => (await subscriber.block()).id).toBe(String(app.service.feed.newest));
    const { blocks } = subscriber;
    expect(blocks.slice(1).every(({ comment, event }) => comment !== undefined && event === undefined)).toBe(true);
    await subscriber.close();
    await quick.close();
  });
});

describe('a reconnecting subscriber', () => {
  it('sends the missed events and then the new ones, without gaps or repetitions', async () => {
    const away = await listenTo('?type=capture.queued');
    await capture('https://seen.example/');
    const seen = await away.event();
    await away.close();
    for (let n = 0; n < 5; n += 1) await capture(`https://missed-${n}.example/`);
    const back = await listenTo('?type=capture.queued', { 'Last-Event-ID': String(seen.id) });
    await capture('https://live.example/');
    expect(hostsOf(await back.take(6))).toEqual([...[0, 1, 2, 3, 4].map((n) => `missed-${n}.example`), 'live.example']);
  });

  it('sends every missed event while new events arrive without pause', async () => {
    const events$ = new Subject<CapstanEvent>();
    const { service, close } = await withFeed(events$);
    const many = await serve(service);
    let n = 0;
    const pour = setInterval(() => {
      for (let burst = 0; burst < 100; burst += 1) events$.next(numbered(n++));
    }, 1);
    // Subscribers with the same filter share a buffer. Events that wait in it must not be sent to the new subscriber.
    const other = await listenTo('', {}, many);
    const others = other.ended().catch(() => {});
    let last = '0';
    let expected: number | undefined;
    for (let round = 0; round < 5; round += 1) {
      const subscriber = await listenTo('', { 'Last-Event-ID': last }, many);
      for (const { id, event, data } of await subscriber.take(700)) {
        if (event === 'gap') continue;
        expect(Object(data).pid).toBe(expected ?? Object(data).pid);
        expected = Object(data).pid + 1;
        last = String(id);
      }
      await subscriber.close();
    }
    clearInterval(pour);
    await other.close();
    await others;
    await many.close();
    await close();
  });

  it('sends missed events at the speed of the reader', async () => {
    const events$ = new Subject<CapstanEvent>();
    const { service, close } = await withFeed(events$);
    const small = await serve(service, { events: { bufferBytes: 16 * 1024 } });
    const start = service.feed.newest;
    for (let n = 0; n < 7500; n += 1) events$.next(numbered(n, 'x'.repeat(900)));
    const slow = await listenTo('', { 'Last-Event-ID': String(start) }, small);
    for (let n = 7500; n < 7510; n += 1) {
      events$.next(numbered(n));
      await new Promise(setImmediate);
    }
    const quick = await listenTo('', { 'Last-Event-ID': String(start) }, small);
    for (const subscriber of [quick, slow]) {
      const got = await subscriber.take(7510);
      expect(got.map(({ data }) => Object(data).pid)).toEqual(Array.from({ length: 7510 }, (_, n) => n));
    }
    await Promise.all([slow.close(), quick.close()]);
    await small.close();
    await close();
  });

  it('resumes from the header instead of the query, which browsers send again unchanged', async () => {
    const { newest } = app.service.feed;
    await capture('https://known.example/');
    const now = app.service.feed.newest;
    await capture('https://unknown.example/');
    const back = await listenTo(`?type=capture.queued&lastEventId=${newest}`, { 'Last-Event-ID': String(now) });
    expect(hostsOf([await back.event()])).toEqual(['unknown.example']);
  });

  it('resumes from the id that was sent before the first event', async () => {
    const early = await listenTo();
    const place = early.blocks[0]?.id;
    expect(Number(place)).toBe(app.service.feed.newest);
    await early.close();
    await capture('https://first.example/');
    const back = await listenTo('?type=capture.queued', { 'Last-Event-ID': String(place) });
    expect(hostsOf([await back.event()])).toEqual(['first.example']);
  });

  it('sends a gap event when the id is unknown', async () => {
    const back = await listenTo('?type=batch.completed', { 'Last-Event-ID': String(Number.MAX_SAFE_INTEGER) });
    const gap = await back.event();
    expect(gap).toMatchObject({ event: 'gap', data: { v: 1, type: 'gap', reason: 'unknown_id' } });
  });

  it('sends the missed events from before a restart', async () => {
    const first = await startService(NO_BROWSER);
    const before = await subscribe(`${first.baseUrl}/events?type=capture.queued`);
    await capture('https://seen.example/', first.service);
    const seen = await before.event();
    await before.close();
    await capture('https://missed.example/', first.service);
    const dbPath = `${first.directory}/results.db`;
    await first.service.stop();
    const second = await startService({ ...NO_BROWSER, dbPath });
    await capture('https://after.example/', second.service);
    const back = await subscribe(`${second.baseUrl}/events?type=capture.queued`, { 'Last-Event-ID': String(seen.id) });
    const events = await back.take(2);
    expect(typesOf(events)).toEqual(['capture.queued', 'capture.queued']);
    expect(hostsOf(events)).toEqual(['missed.example', 'after.example']);
    await back.close();
    await second.stop();
    await first.stop();
  });

  it('sends a gap event after a restart without a database', async () => {
    const first = await startService({ ...NO_BROWSER, dbPath: null });
    await capture('https://lost.example/', first.service);
    const last = first.service.feed.newest;
    await first.stop();
    const second = await startService({ ...NO_BROWSER, dbPath: null });
    const back = await subscribe(`${second.baseUrl}/events`, { 'Last-Event-ID': String(last) });
    expect(await back.event()).toMatchObject({ event: 'gap', data: { reason: 'too_old' } });
    await capture('https://new.example/', second.service);
    const { event, id } = await back.event();
    expect(event).toBe('capture.queued');
    expect(Number(id)).toBeGreaterThan(last);
    await back.close();
    await second.stop();
  });
});

describe('the buffer of a subscriber', () => {
  it('disconnects a subscriber whose buffer is full, while others miss nothing', async () => {
    const events$ = new Subject<CapstanEvent>();
    const { service, close } = await withFeed(events$);
    const small = await serve(service, { events: { bufferBytes: 1024 * 1024 } });
    const { hostname, port } = new URL(small.baseUrl);
    const idle = connect({ host: hostname, port: Number(port) });
    idle.write('GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n');
    await once(idle, 'readable');
    const dropped = once(
      idle.on('error', () => {}),
      'close',
    );
    const reader = await listenTo('', {}, small);
    const reading = reader.take(3000);
    for (let n = 0; n < 3000; n += 1) {
      events$.next(numbered(n, 'x'.repeat(10_000)));
      while (reader.blocks.length < n - 20) await new Promise(setImmediate);
    }
    expect((await reading).map(({ data }) => Object(data).pid)).toEqual(Array.from({ length: 3000 }, (_, n) => n));
    idle.resume();
    await dropped;
    await reader.close();
    await small.close();
    await close();
  });

  it('does not disconnect a subscriber that reads, however many events come at once', async () => {
    const events$ = new Subject<CapstanEvent>();
    const { service, close } = await withFeed(events$);
    const small = await serve(service, { events: { bufferBytes: 64 * 1024 } });
    const reader = await listenTo('', {}, small);
    for (const first of [0, 1000]) {
      const reading = reader.take(1000);
      for (let n = first; n < first + 1000; n += 1) events$.next(numbered(n, 'x'.repeat(1000)));
      expect((await reading).map(({ data }) => Object(data).pid)).toEqual(
        Array.from({ length: 1000 }, (_, n) => first + n),
      );
    }
    await reader.close();
    await small.close();
    await close();
  });
});

describe('events when the service stops', () => {
  it('ends streams in order, after the last events, and refuses new ones', async () => {
    const ending = await startService(NO_BROWSER);
    const subscriber = await subscribe(`${ending.baseUrl}/events?type=capture.*`);
    await capture('https://last.example/', ending.service);
    await ending.service.stop();
    await subscriber.ended();
    expect(typesOf(subscriber.blocks.filter(({ event }) => event !== undefined))).toEqual([
      'capture.queued',
      'capture.started',
      'capture.failed',
    ]);
    const late = await fetch(`${ending.baseUrl}/events`);
    expect(late.status).toBe(503);
    expect(await failureOf(late)).toMatchObject({ code: 'shutting_down' });
    await ending.stop();
  });
});

/** Returns the service with a feed of events that the test emits. */
async function withFeed(events$: Subject<CapstanEvent>) {
  const log = new OwnEventLog({ table: null, clock: Date.now, node: () => 40 });
  const feed = openEventFeed(events$, log);
  await feed.started;
  const service: CaptureService = Object.create(app.service, { feed: { value: feed } });
  return { service, close: () => feed.close() };
}

function numbered(n: number, reason = ''): CapstanEvent {
  return { type: 'browser.retired', at: '2030-01-01T00:00:00.000Z', pid: n, captures: 0, cause: 'captures', reason };
}
