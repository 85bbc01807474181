import { join } from 'node:path';
import { Subject } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { CapstanEvent } from '../../src/capture/events.ts';
import { packWords } from '../../src/capture/result/page-words.ts';
import { STORED_LIMITS } from '../../src/capture/stored-limits.ts';
import type { FactsOf } from '../../src/feed/event-facts.ts';
import { openEventFeed } from '../../src/feed/event-feed.ts';
import { DeliverySchema, QuerySchema } from '../../src/http/answer/query-schemas.ts';
import type { CaptureService } from '../../src/service/create-service.ts';
import type { LoggedEvent } from '../../src/storage/ports/event-log.ts';
import { openSqlite } from '../../src/storage/sqlite/open.ts';
import { serviceForSuite, siteForSuite } from '../support/for-suite.ts';
import { type RunningApp, serve } from '../support/serve.ts';
import { NO_BROWSER } from '../support/service.ts';
import { makeDirectory } from '../support/temporary-directory.ts';
import { failureOf } from './answers.ts';
import { subscribe } from './event-subscriber.ts';
import { resultOf } from './stored-capture.ts';
import { describeWithTenantsOfEachDatabase, tenantsForSuite } from './tenants.ts';

const Query = z.object({ data: QuerySchema });
const QueryList = z.object({ data: z.array(QuerySchema) });
const Delivered = z.object({ data: DeliverySchema });
const AboutUrl = z.object({ url: z.string() });

type App = Pick<RunningApp, 'baseUrl' | 'call' | 'post'>;

/** A client of one app, with the API key of a tenant. */
function consumer(app: App, key = 'shop-key') {
  const headers = { 'X-API-Key': key };
  const post = (path: string, body: unknown) => app.post(path, body, { headers });
  const call = (path: string, init: RequestInit = {}) => app.call(path, { ...init, headers });
  return {
    post,
    call,
    create: async (filter: object, after?: number) => {
      const response = await post('/queries', { filter, after });
      expect(response.status).toBe(201);
      const { data } = Query.parse(await response.json());
      expect(response.headers.get('Location')).toBe(`/queries/${data.id}`);
      return data;
    },
    query: async (id: string) => Query.parse(await (await call(`/queries/${id}`)).json()).data,
    next: async (id: string, parameters = '') => {
      const response = await call(`/queries/${id}/next${parameters}`);
      expect(response.status).toBe(200);
      const { events, position } = Delivered.parse(await response.json()).data;
      return { urls: events.map(({ event }) => AboutUrl.parse(event).url), position };
    },
    ack: (id: string, position: unknown) => post(`/queries/${id}/ack`, { position }),
    /** Asks for captures that are refused, each of which is one event. */
    refuse: async (...urls: readonly string[]) => {
      for (const url of urls) expect((await post('/screenshot', { url })).status).toBe(403);
    },
    events: (id: string) => subscribe(`${app.baseUrl}/queries/${id}/next`, { ...headers, Accept: 'text/event-stream' }),
    subscribe: (path: string) => subscribe(`${app.baseUrl}${path}`, headers),
  };
}

const REJECTED = { type: ['capture.rejected'] };
const LONG = '?wait=60';

describe('a standing query', () => {
  describeWithTenantsOfEachDatabase((start) => {
    const running = tenantsForSuite(() => start(NO_BROWSER));

    /** Two consumers of one key, at different api nodes where there are several. */
    const two = async (key?: string) => {
      const { one, apps } = await running();
      return [consumer(one, key), consumer(apps.at(-1) ?? one, key)] as const;
    };

    it('delivers what matches again until it is acknowledged, and then goes on, at any node', {
      timeout: 120_000,
    }, async () => {
      const [here, there] = await two();
      const { id, position } = await here.create({ ...REJECTED, host: '10.0.1.1' });
      await here.refuse('http://10.0.1.1/a', 'http://10.0.1.2/', 'http://10.0.1.1/b', 'http://10.0.1.1/c');
      const first = await there.next(id, `${LONG}&limit=1`);
      expect(first.urls).toEqual(['http://10.0.1.1/a']);
      expect((await here.next(id, LONG)).urls).toContain('http://10.0.1.1/a');
      expect((await here.query(id)).position).toBe(position);

      expect((await here.ack(id, first.position)).status).toBe(200);
      const second = await there.next(id, `${LONG}&limit=1`);
      expect(second.urls).toEqual(['http://10.0.1.1/b']);
      expect((await there.ack(id, second.position)).status).toBe(200);
      const third = await here.next(id, LONG);
      expect(third.urls).toEqual(['http://10.0.1.1/c']);
      expect(await there.query(id)).toMatchObject({ position: second.position, delivered: third.position });
      expect((await here.ack(id, third.position)).status).toBe(200);
      expect(await here.next(id)).toEqual({ urls: [], position: null });
    });

    it('answers a consumer that waits as soon as there is an event', async () => {
      const [here, there] = await two();
      const { id } = await here.create({ ...REJECTED, host: '10.0.2.1' });
      const waiting = [here.next(id, LONG), there.next(id, LONG)];
      await here.refuse('http://10.0.2.2/', 'http://10.0.2.1/');
      for (const { urls } of await Promise.all(waiting)) expect(urls).toEqual(['http://10.0.2.1/']);
    });

    it('tells what is not acknowledged, and moves over events that do not match', async () => {
      const [here] = await two();
      const { id, position } = await here.create({ ...REJECTED, host: '10.0.3.1' });
      await here.refuse('http://10.0.3.2/', 'http://10.0.3.1/');
      await here.next(id, LONG);
      expect((await here.query(id)).pending).toMatchObject({ events: 1, complete: true });
      const delivered = await here.next(id);
      await here.ack(id, delivered.position);
      expect((await here.query(id)).pending).toEqual({ events: 0, complete: true, lag_seconds: 0 });

      const other = await here.create({ ...REJECTED, host: '10.0.3.9' }, position);
      expect(await here.next(other.id)).toEqual({ urls: [], position: null });
      const moved = await here.query(other.id);
      expect(moved.position).toBeGreaterThanOrEqual(delivered.position ?? Number.NaN);
      expect(moved.acknowledged_at).toBeNull();
    });

    it('refuses positions that were not delivered, and those before the last one', async () => {
      const [here, there] = await two();
      const { id, position } = await here.create({ ...REJECTED, host: '10.0.4.1' });
      await here.refuse('http://10.0.4.1/a', 'http://10.0.4.1/b');
      const one = await here.next(id, `${LONG}&limit=1`);
      const beyond = await there.ack(id, (one.position ?? 0) + 1);
      expect(beyond.status).toBe(400);
      expect(await failureOf(beyond)).toMatchObject({
        code: 'invalid_request',
        data: { problems: [{ path: 'position' }] },
      });
      expect((await here.ack(id, 'x')).status).toBe(400);
      expect((await here.query(id)).position).toBe(position);

      expect((await here.ack(id, one.position)).status).toBe(200);
      expect((await there.ack(id, one.position)).status).toBe(200);
      const back = await there.ack(id, position);
      expect(back.status).toBe(409);
      expect(await failureOf(back)).toMatchObject({ code: 'already_acknowledged' });
      expect((await here.query(id)).position).toBe(one.position);
    });

    it('belongs to its key, and shows nothing of others', async () => {
      const [own] = await two('shop-key');
      const [, other] = await two('flood-key');
      const { id } = await own.create({ ...REJECTED, host: '10.0.5' });
      await other.refuse('http://10.0.5.1/other');
      await own.refuse('http://10.0.5.1/own');
      expect((await own.next(id, LONG)).urls).toEqual(['http://10.0.5.1/own']);
      const answers = [
        await other.call(`/queries/${id}`),
        await other.call(`/queries/${id}/next`),
        await other.ack(id, 1),
        await other.call(`/queries/${id}`, { method: 'DELETE' }),
      ];
      expect(answers.map(({ status }) => status)).toEqual([404, 404, 404, 404]);
      const listed = QueryList.parse(await (await other.call('/queries')).json()).data;
      expect(listed.map((query) => query.id)).not.toContain(id);
      const mine = QueryList.parse(await (await own.call('/queries')).json()).data;
      expect(mine[0]).toMatchObject({ id, api_key_name: 'shop', filter: { ...REJECTED, host: '10.0.5' } });
    });

    it('is streamed from the position on, each event once in a connection', async () => {
      const [here, there] = await two();
      const { id } = await here.create({ ...REJECTED, host: '10.0.6.1' });
      await here.refuse('http://10.0.6.1/a');
      const first = await here.events(id);
      const [a] = await first.take(1);
      await here.refuse('http://10.0.6.1/b');
      const [b] = await first.take(1);
      expect([a, b].map((block) => AboutUrl.parse(block?.data).url)).toEqual([
        'http://10.0.6.1/a',
        'http://10.0.6.1/b',
      ]);
      await first.close();
      expect((await there.ack(id, Number(a?.id))).status).toBe(200);
      const again = await there.events(id);
      expect(await again.event()).toEqual(b);
      await again.close();
    });

    it('is gone for every consumer when it is removed', async () => {
      const [here, there] = await two();
      const { id } = await here.create({ ...REJECTED, host: '10.0.7.1' });
      const waiting = here.call(`/queries/${id}/next${LONG}`);
      const stream = await here.events(id);
      expect((await there.call(`/queries/${id}`, { method: 'DELETE' })).status).toBe(200);
      await here.refuse('http://10.0.7.1/');
      expect((await waiting).status).toBe(404);
      await stream.ended();
      expect((await here.call(`/queries/${id}`, { method: 'DELETE' })).status).toBe(404);
    });
  });

  const site = siteForSuite();
  const app = serviceForSuite();

  it('selects captures by what their results say', async () => {
    const client = consumer(app);
    const shoot = async (path: string, options = {}) => {
      expect((await client.post('/screenshot', { url: site.url(path), ...options })).status).toBe(200);
    };
    const paths = ['/title?t=Quarterly+Figures', '/404', '/short'];
    const [figures, missing, long] = paths.map((path) => site.url(path));
    const cases = [
      [{ text: 'figures quarterly' }, figures],
      [{ status: '4xx' }, missing],
      [{ verdict: 'error' }, missing],
      [{ option: 'fullPage' }, long],
      [{ status: '200', outcome: 'stored', option: 'fullPage=true', text: 'short' }, long],
    ] as const;
    const { position } = await client.create({});
    await shoot('/title?t=Quarterly+Figures');
    await shoot('/404');
    await shoot('/short', { fullPage: true });
    for (const [filter, url] of cases) {
      const { id } = await client.create({ type: ['capture.stored'], ...filter }, position);
      expect((await client.next(id)).urls, JSON.stringify(filter)).toEqual([url]);
      expect((await client.query(id)).filter).toEqual({ type: ['capture.stored'], ...filter });
    }
  });

  it('selects captures whose image looks like that of another, also when that one was removed', async () => {
    const { events$, client, close } = await withSmallLog(join(await makeDirectory(), 'events.db'));
    const hash = '7c1e3fa05b92d8';
    const model = resultOf(901, { perception_hash: `${hash}00` });
    await app.service.results.insert(model);
    await app.service.results.insert(resultOf(902, { perception_hash: null }));
    const near = await client.create({ similar: { to: model.id } });
    const nearer = await client.create({ similar: { to: model.id, distance: 1 } });
    const blind = await client.post('/queries', { filter: { similar: { to: 902 } } });
    expect(await failureOf(blind)).toMatchObject({ data: { problems: [{ path: 'filter.similar.to' }] } });
    await app.service.results.delete([model.id]);
    for (const end of ['00', '01', '0f', '3f']) events$.next(stored(`http://${end}.example/`, `${hash}${end}`));
    events$.next(stored('http://none.example/', null));
    const urls = ['00', '01', '0f'].map((end) => `http://${end}.example/`);
    expect((await client.next(near.id)).urls).toEqual(urls);
    expect((await client.next(nearer.id)).urls).toEqual(urls.slice(0, 2));
    await close();
  });

  it('selects events of watches by label and by how much changed', async () => {
    const { events$, client, close } = await withSmallLog(join(await makeDirectory(), 'events.db'));
    const { id } = await client.create({ label: 'prices', changedMoreThan: 0.05 });
    const any = await client.create({ type: ['watch.*'] });
    events$.next(retired(1));
    events$.next(changed('http://a.example/', ['prices'], 0.05));
    events$.next(changed('http://b.example/', ['news'], 0.5));
    events$.next(changed('http://c.example/', ['news', 'prices'], 0.06));
    events$.next(changed('http://d.example/', ['prices'], null));
    expect((await client.next(id)).urls).toEqual(['http://c.example/']);
    expect((await client.next(any.id)).urls).toHaveLength(4);
    expect((await client.query(id)).filter).toEqual({ label: 'prices', changedMoreThan: 0.05 });
    await close();
  });

  it('is sent a gap where the log does not reach back to its position, and goes on after it', async () => {
    const path = join(await makeDirectory(), 'events.db');
    const earlier = await withSmallLog(path);
    const { id } = await earlier.client.create({ type: ['browser.retired'] });
    for (let pid = 1; pid <= 2 * KEPT; pid += 1) earlier.events$.next(retired(pid));
    await earlier.close();

    // Nothing of an earlier process is read from memory.
    const { client, close } = await withSmallLog(path);
    const [first] = await client.deliver(id, '?limit=1');
    expect(first).toMatchObject({ event: { type: 'gap', reason: 'too_old' } });
    expect((await client.ack(id, first?.id)).status).toBe(200);
    const rest = await client.deliver(id, '');
    // The end of the earlier process is an entry of the log, too.
    const kept = Array.from({ length: KEPT - 1 }, (_, index) => KEPT + index + 2);
    expect(rest.map(({ event }) => event.pid)).toEqual(kept);
    await close();
  });

  it('looks through many events in several turns, as GET /events does, so that others are answered meanwhile', async () => {
    let [inTurn, most, isWatched] = [0, 0, true];
    const nextTurn = () => {
      inTurn = 0;
      if (isWatched) setImmediate(nextTurn);
    };
    const counting = (factsOf: FactsOf) => (event: LoggedEvent) => {
      inTurn += 1;
      most = Math.max(most, inTurn);
      return factsOf(event);
    };
    const path = join(await makeDirectory(), 'events.db');
    const { events$, client, feed, close } = await withSmallLog(path, counting);
    const { newest } = feed;
    const withText = (url: string, text: string) => ({ ...stored(url, null), words: packWords({ text, places: [] }) });
    for (let at = 0; at < 100; at += 1) events$.next(withText('https://shop.example/', 'a b '.repeat(16_000)));
    events$.next(withText('https://kite.example/', 'a kite'));
    const { id } = await client.create({ words: 'kite' }, newest);
    nextTurn();
    expect((await client.next(id)).urls).toEqual(['https://kite.example/']);
    const replayed = await client.subscribe(`/events?words=kite&lastEventId=${newest}`);
    expect(AboutUrl.parse((await replayed.event()).data).url).toBe('https://kite.example/');
    isWatched = false;
    expect(most).toBeLessThan(50);
    await replayed.close();
    await close();
  });

  it('reads few events of the log again when looking at them takes long, as GET /events does', async () => {
    const path = join(await makeDirectory(), 'events.db');
    const earlier = await withSmallLog(path);
    const { newest } = earlier.feed;
    for (let at = 0; at < KEPT / 2; at += 1) earlier.events$.next(stored(`https://${at}.example/`, null));
    await earlier.close();

    const slow = (factsOf: FactsOf) => (event: LoggedEvent) => {
      for (const since = performance.now(); performance.now() - since < 11; );
      return factsOf(event);
    };
    // Nothing of an earlier process is read from memory.
    const { events$, client, read, close } = await withSmallLog(path, slow);
    const { id } = await client.create({ status: '200' }, newest);
    expect((await client.next(id)).urls).toHaveLength(KEPT / 2);
    expect(read.events).toBeLessThan(2 * KEPT);
    read.events = 0;
    const replayed = await client.subscribe(`/events?status=200&lastEventId=${newest}`);
    await replayed.take(KEPT / 2);
    events$.next(stored('https://last.example/', null));
    expect(AboutUrl.parse((await replayed.event()).data).url).toBe('https://last.example/');
    expect(read.events).toBeLessThan(2 * KEPT);
    await replayed.close();
    await close();
  });

  it('looks at each event once, also when a socket or an answer takes few of them together', async () => {
    let looks = 0;
    const counting = (factsOf: FactsOf) => (event: LoggedEvent) => {
      looks += 1;
      return factsOf(event);
    };
    const { events$, client, feed, close } = await withSmallLog(join(await makeDirectory(), 'events.db'), counting);
    const { newest } = feed;
    for (let at = 0; at < 40; at += 1) events$.next(stored(`https://a.example/${at}${'x'.repeat(100_000)}`, null));
    const replayed = await client.subscribe(`/events?status=200&lastEventId=${newest}`);
    await replayed.take(40);
    expect(looks).toBe(40);
    await replayed.close();
    const { id } = await client.create({ status: '200' }, newest);
    expect((await client.next(id, '?limit=10')).urls).toHaveLength(10);
    expect(looks).toBe(50);
    await close();
  });

  it('is 503 while its events cannot be kept, so that it delivers none that could be lost', async () => {
    const { events$, client, database, close } = await withSmallLog(join(await makeDirectory(), 'events.db'));
    const { id } = await client.create({ type: ['browser.retired'] });
    events$.next(retired(1));
    await database.close();
    const response = await client.call(`/queries/${id}/next`);
    expect(response.status).toBe(503);
    expect(await failureOf(response)).toMatchObject({ code: 'database_unavailable' });
    await close();
  });

  it('answers waiting consumers when the service stops', async () => {
    const { events$, client, feed, close } = await withSmallLog(join(await makeDirectory(), 'events.db'));
    const { id } = await client.create({ type: ['browser.crashed'] });
    const waiting = client.call(`/queries/${id}/next${LONG}`);
    const stream = await client.events(id);
    events$.next(retired(1));
    await feed.close();
    expect((await waiting).status).toBe(503);
    await stream.ended();
    await close();
  });

  it('shows a key that is isolated since then its own events alone, and to other keys only to administrators', async () => {
    const open = { apiKey: ['shop-key', 'root-key'], namedKeys: [SHOP, ROOT] };
    const before = await serve(app.service, open);
    const after = await serve(app.service, { ...open, isolateKeys: true });
    const { id } = await consumer(before).create({ ...REJECTED, host: '10.1' });
    await consumer(before).refuse('http://10.1.1.1/own');
    await consumer(before, 'root-key').refuse('http://10.1.1.1/root');
    expect((await consumer(before).next(id)).urls).toEqual(['http://10.1.1.1/own', 'http://10.1.1.1/root']);
    expect((await consumer(after).next(id)).urls).toEqual(['http://10.1.1.1/own']);
    const isolated = await consumer(after).create({ ...REJECTED, host: '10.1' }, 0);
    expect((await consumer(after, 'root-key').next(isolated.id)).urls).toEqual(['http://10.1.1.1/own']);

    const renamed = await serve(app.service, { ...open, namedKeys: [{ ...SHOP, name: 'store' }, ROOT] });
    expect((await consumer(renamed).call(`/queries/${id}`)).status).toBe(404);
    expect((await consumer(renamed, 'root-key').call(`/queries/${id}`, { method: 'DELETE' })).status).toBe(200);
    await Promise.all([before, after, renamed].map((each) => each.close()));
  });

  it('is refused when its key has a share of them, and again possible when one was removed', async () => {
    const shared = await serve(app.service, { apiKey: ['shop-key', 'root-key'], namedKeys: [SHOP, ROOT] });
    const client = consumer(shared);
    const { id } = await client.create({});
    const { queries } = app.service;
    const own = { apiKeyName: 'shop', filter: '{}', position: 0, notify: [], notifyAfter: 0, keysShare: true };
    await expect(
      (async () => {
        for (let at = 0; ; at += 1) await queries.add({ ...own, id: `own-${at}` });
      })(),
    ).rejects.toMatchObject({ code: 'too_many_queries' });
    const max = STORED_LIMITS.queries.count;
    expect((await queries.newest(max, 'shop')).length).toBeLessThanOrEqual(max / 2 + 1);
    const refused = await client.post('/queries', {});
    expect(refused.status).toBe(429);
    expect(await failureOf(refused)).toMatchObject({ code: 'too_many_queries' });
    const other = consumer(shared, 'root-key');
    expect((await other.post('/queries', {})).status).toBe(201);
    await client.call(`/queries/${id}`, { method: 'DELETE' });
    expect((await client.post('/queries', {})).status).toBe(201);
    await shared.close();
  });

  const KEPT = 50;

  /** Serves a feed of events that the test emits, with a log that keeps few of them. */
  async function withSmallLog(path: string, counting = (factsOf: FactsOf): FactsOf => factsOf) {
    const database = await openSqlite({ path, keptEvents: KEPT });
    const events$ = new Subject<CapstanEvent>();
    const log = database.eventLog({ clock: Date.now, node: () => 1 });
    const read = { events: 0 };
    const readLog = log.read.bind(log);
    log.read = async (after, limit) => {
      const events = await readLog(after, limit);
      read.events += events.length;
      return events;
    };
    const feed = openEventFeed(events$, log);
    await feed.started;
    const service: CaptureService = Object.create(app.service, {
      feed: { value: Object.create(feed, { factsOf: { value: counting(feed.factsOf) } }) },
      queries: { value: database.queries },
    });
    const served = await serve(service);
    const client = consumer(served);
    return {
      events$,
      feed,
      database,
      /** Events that were read from the log. */
      read,
      client: {
        ...client,
        deliver: async (id: string, parameters: string) => {
          const response = await client.call(`/queries/${id}/next${parameters}`);
          return Delivered.parse(await response.json()).data.events;
        },
      },
      close: async () => {
        await served.close();
        await feed.close();
        await database.close();
      },
    };
  }
});

const SHOP = { name: 'shop', key: 'shop-key', rate: null, scope: 'capture' } as const;
const ROOT = { name: 'root', key: 'root-key', rate: null, scope: 'admin' } as const;

function retired(pid: number): CapstanEvent {
  return { type: 'browser.retired', at: '2030-01-01T00:00:00.000Z', pid, captures: 0, cause: 'captures', reason: '' };
}

function stored(url: string, hash: string | null): CapstanEvent {
  const result = resultOf(1, { url, perception_hash: hash });
  const { id, host, probed_at: at } = result;
  return { type: 'capture.stored', at, id, url, host, batch: null, result };
}

function changed(url: string, labels: string[], share: number | null): CapstanEvent {
  const at = '2030-01-01T00:00:00.000Z';
  const run = {
    due: at,
    at,
    state: 'changed',
    capture: 2,
    before: 1,
    changed: ['visual'],
    share,
    regions: [],
    values: null,
  } as const;
  return {
    type: 'watch.changed',
    at,
    watch: 1,
    url,
    host: new URL(url).host,
    labels,
    run: { ...run, verdict: 'content', code: null, reason: null },
    comparison: '/compare?a=1&b=2',
  };
}
