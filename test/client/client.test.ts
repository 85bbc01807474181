import { once } from 'node:events';
import { createServer, type RequestListener, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { build } from 'esbuild';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { receiveEvents } from '../../src/client/events.ts';
import {
  type CapstanClient,
  CapstanFailure,
  createClient,
  type ReceivedEvent,
  verifyWebhook,
} from '../../src/client/mod.ts';
import { sender } from '../../src/client/send.ts';
import { readSecret, signatures } from '../../src/receivers/transports/signature.ts';
import { ground, serve } from '../commands/capstan-process.ts';
import { serviceForSuite, siteForSuite } from '../support/for-suite.ts';
import { freePort } from '../support/free-port.ts';

const MOD = join(import.meta.dirname, '../../src/client/mod.ts');
const MAX_BYTES = 15_000;

const site = siteForSuite();
const app = serviceForSuite();
const client = (): CapstanClient => createClient({ baseUrl: app.baseUrl });

/** Operations that the client leaves to others: probes, operators, browsers, agents; `consume` acknowledges. */
const WITHOUT_CALL = [
  'acknowledgeQuery',
  'callMcp',
  'captureByQuery',
  'exportResults',
  'getSession',
  'listCapturesInFlight',
  'listScreenshots',
  'livez',
  'logIn',
  'logOut',
  'metrics',
  'openSharedLink',
  'openSharedPart',
  'openapi',
  'pressure',
  'readFeed',
  'readyz',
  'readyzAny',
  'readyzReads',
  'setLimits',
  'start',
  'stats',
  'statsHistory',
  'suggestLabels',
];

const OpenApi = z.object({
  paths: z.record(z.string(), z.record(z.string(), z.looseObject({ operationId: z.string() }))),
});

async function all<T>(source: AsyncIterable<T>): Promise<T[]> {
  const taken: T[] = [];
  for await (const each of source) taken.push(each);
  return taken;
}

/** Starts a stand-in for a service. */
async function answering(listener: RequestListener): Promise<AsyncDisposable & { readonly url: string }> {
  const server = createServer(listener);
  const port = await freePort(server);
  await once(server.listen(port, '127.0.0.1'), 'listening');
  return {
    url: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
    },
  };
}

describe('the client of a service below a path', () => {
  it.each(['/capstan', '/capstan/', '/capstan/?x=1#y', '/a/b'])('sends every request below %s', async (base) => {
    const paths: string[] = [];
    const prefix = base.replace(/\/?(?:\?.*)?$/, '');
    // A proxy that removes the prefix, and adds it to links where `withPrefix` says so.
    for (const withPrefix of [false, true]) {
      await using proxy = await answering(async (request, response) => {
        paths.push(request.url ?? '');
        const headers = withPrefix ? { 'X-Forwarded-Prefix': prefix } : {};
        const answer = await app.call((request.url ?? '').slice(prefix.length), { headers });
        response.writeHead(answer.status, { Link: answer.headers.get('Link') ?? '' });
        response.end(Buffer.from(await answer.arrayBuffer()));
      });
      const below = createClient({ baseUrl: `${proxy.url}${base}`, apiKey: 'secret', retries: 0 });
      await all(below.results({ host: 'nowhere.invalid' }));
      await below.remove(999_999).catch(() => undefined);
      await expect(below.result(999_999)).rejects.toMatchObject({ code: 'not_found' });
      await all(below.watches.list());
    }
    expect(paths.length).toBeGreaterThan(7);
    expect(paths.filter((path) => !path.startsWith(`${prefix}/`) || path.startsWith(`${prefix}/${prefix}`))).toEqual(
      [],
    );
  });

  it('reads all pages of a list below a path, from a proxy that says its path and from one that does not', async () => {
    const url = site.url('/short?paged');
    const created = await Promise.all(Array.from({ length: 3 }, () => client().watches.add({ url, every: '300d' })));
    for (const headers of [{}, { 'X-Forwarded-Prefix': '/capstan' }]) {
      await using proxy = await answering(async (request, response) => {
        const asked = (request.url ?? '').replace('/capstan/', '/').replace('limit=100', 'limit=1');
        const answer = await app.call(asked, { headers });
        response.writeHead(answer.status, { Link: answer.headers.get('Link') ?? '' });
        response.end(Buffer.from(await answer.arrayBuffer()));
      });
      const listed = await all(createClient({ baseUrl: `${proxy.url}/capstan/`, retries: 0 }).watches.list());
      expect(listed.map(({ id }) => id)).toEqual(expect.arrayContaining(created.map(({ id }) => id)));
    }
    for (const { id } of created) await client().watches.remove(id);
  });

  it.each([
    ['me:p%40ss', 'me:p@ss'],
    ['me:100%', 'me:100%'],
    ['me', 'me:'],
    [':only', ':only'],
    ['j%C3%B6rg:%zz+%3a', 'j\xc3\xb6rg:%zz+:'],
    ['jörg:a:b', 'j\xc3\xb6rg:a:b'],
  ])('sends the credentials %s of its URL to the proxy in front, and the API key beside them', async (given, bytes) => {
    let sent: readonly unknown[] = [];
    await using proxy = await answering((request, response) => {
      sent = [request.url, request.headers.authorization, request.headers['x-api-key']];
      response.writeHead(200).end('{"data":[]}');
    });
    const baseUrl = proxy.url.replace('://', `://${given}@`);
    await createClient({ baseUrl, apiKey: 'secret' }).queries();
    expect(sent.slice(1)).toEqual([`Basic ${btoa(bytes)}`, 'secret']);
  });
});

describe('the client', () => {
  it('captures a page, reads its files, lists it, and removes it', async () => {
    const { capture, image, result, results, remove } = client();
    const url = site.url('/short?listed');
    const first = await capture({ url, outputs: ['text'] });
    const second = await capture({ url });
    expect(first).toMatchObject({ url, verdict: 'content', failed: false });
    expect((await image(first.id)).headers.get('Content-Type')).toBe('image/png');
    expect(await (await image(first.id, { view: 'text' })).text()).toContain('deep water');
    expect((await result(first.id)).evidence).toEqual(first.evidence);
    expect((await all(results({ url }))).map(({ id }) => id)).toEqual([second.id, first.id]);
    await remove(first.id);
    await expect(result(first.id)).rejects.toMatchObject({ code: 'not_found', status: 404 });
  });

  it('reads as many pages of results as it is asked for', async () => {
    const { batch, results } = client();
    const requests = Array.from({ length: 105 }, (_, at) => ({ url: `file:///${at}` }));
    await all(batch(requests));
    const url = site.url('/short?pages');
    await all(batch(Array.from({ length: 3 }, () => ({ url }))));
    const taken: number[] = [];
    for await (const { id } of results({ url })) if (taken.push(id) === 2) break;
    expect(taken).toHaveLength(2);
  });

  it('compares captures, and watches a page', async () => {
    const { capture, compare, watches } = client();
    const [before, after] = [await capture({ url: site.url('/short') }), await capture({ url: site.url('/404') })];
    expect(await compare(before.id, after.id)).toMatchObject({ response_code: { from: 200, to: 404 } });
    expect((await compare(before.id, after.id, { ignore: ['0,0,2000,2000'] })).regions).toEqual([]);

    const { id, next_run_at } = await watches.add({ url: site.url('/short'), every: '1d', compare: { title: true } });
    expect(next_run_at).not.toBeNull();
    await expect.poll(() => watches.get(id)).toMatchObject({ runs: 1, compare: { title: true } });
    expect((await all(watches.history(id))).map(({ state }) => state)).toEqual(['first']);
    expect(await watches.change(id, { labels: ['ports'], every: null, schedule: '0 9 * * *' })).toMatchObject({
      labels: ['ports'],
      every: null,
      schedule: '0 9 * * *',
    });
    expect(await watches.pause(id)).toMatchObject({ state: 'paused' });
    await watches.run(id);
    await expect.poll(() => watches.get(id)).toMatchObject({ state: 'paused', runs: 2 });
    const listed = await all(watches.list({ label: 'ports', recent: 1 }));
    expect(listed.map((watch) => watch.recent_runs?.map(({ state }) => state))).toEqual([['unchanged']]);
    expect(await all(watches.list({ label: 'none', recent: 1 }))).toEqual([]);
    expect(await watches.resume(id)).toMatchObject({ state: 'active' });
    expect((await all(watches.list())).map((watch) => watch.id)).toEqual([id]);
    await watches.remove(id);
    await expect(watches.get(id)).rejects.toMatchObject({ code: 'not_found' });
  });

  it('has a call for each operation, except those of operators, browsers and machines', async () => {
    const asked: string[] = [];
    const { watches, receivers, ...calls } = createClient({
      baseUrl: app.baseUrl,
      retries: 0,
      fetch: (url, init) => {
        asked.push(`${init?.method} ${new URL(String(url)).pathname}`);
        return fetch(url, init);
      },
    });
    const listening = new AbortController();
    const events = calls.events({}, { signal: listening.signal }).next();
    await Promise.allSettled([
      ...[
        calls.capture({ url: '' }),
        all(calls.batch([{ url: '' }])),
        calls.startJob([]),
        calls.job('none'),
        calls.scan(''),
      ],
      ...[calls.jobs(), calls.cancelJob('none'), calls.similar(1), calls.groups('title'), calls.queries()],
      ...[{}, { url: 'x' }, { host: 'x' }].map((conditions) => all(calls.results(conditions))),
      ...[calls.result(1), calls.image(1), calls.compare(1, 2), calls.stability({ url: '' }), calls.remove(1)],
      ...[calls.createQuery(), calls.query('none'), calls.consume('none').next(), calls.removeQuery('none')],
      ...[
        watches.add({ url: '' }),
        watches.get(1),
        all(watches.list()),
        all(watches.history(1)),
        all(watches.values(1)),
        watches.change(1, {}),
      ],
      ...[calls.mark(1, {}), calls.markAll({ label: 'none' }, {}), calls.share(1), calls.revokeLink('none')],
      all(calls.sharedLinks()),
      all(calls.feeds()),
      calls.createFeed({ label: 'x' }),
      calls.revokeFeed('feed-0-0'),
      ...[watches.pause(1), watches.resume(1), watches.run(1), watches.remove(1)],
      ...[receivers.add({ name: 'x', kind: 'webhook', address: 'x' }), receivers.get('x'), receivers.list()],
      ...[receivers.test('x'), all(receivers.dead('x')), receivers.retry('x', 'y'), receivers.retryAll('x')],
      receivers.remove('x'),
    ]);
    listening.abort();
    await Promise.allSettled([events]);
    const { paths } = OpenApi.parse(await (await app.call('/openapi.json')).json());
    const without = Object.entries(paths).flatMap(([path, operations]) => {
      const isAsked = (method: string) =>
        asked.some((each) => new RegExp(`^${method.toUpperCase()} ${path.replace(/\{\w+\}/g, '[^/]+')}$`).test(each));
      return Object.entries(operations).flatMap(([method, { operationId }]) =>
        isAsked(method) || method === 'head' ? [] : [operationId],
      );
    });
    expect(without.toSorted()).toEqual(WITHOUT_CALL);
  });

  it('finds captures by labels that it has given them', async () => {
    const { capture, mark, markAll, results } = client();
    const { id } = await capture({ url: site.url('/short'), labels: ['by client'] });
    expect(await mark(id, { addLabels: ['second'] })).toMatchObject({ id, labels: ['by client', 'second'] });
    expect(await markAll({ label: 'by client,second' }, { note: 'all' })).toEqual({
      changed: 1,
      failed: [],
      next: null,
    });
    expect(await all(results({ label: 'second' }))).toMatchObject([{ id, note: 'all' }]);
  });

  it('yields the outcome of each request of a batch of any length once', async () => {
    let asked = 0;
    async function* requests() {
      for (; asked < 205; asked += 1) yield { url: asked % 100 === 7 ? site.url('/short') : `file:///${asked}` };
    }
    const outcomes = client().batch(requests(), { concurrency: 2 });
    const first = await outcomes.next();
    // The following requests are read when outcomes have been taken.
    expect(asked).toBeLessThan(100);
    const lines = [...(first.done ? [] : [first.value]), ...(await all(outcomes))];
    expect(lines.map(({ index }) => index).toSorted((a, b) => a - b)).toEqual(
      Array.from({ length: 205 }, (_, at) => at),
    );
    expect(lines.filter(({ result }) => result !== null).map(({ index }) => index)).toEqual([7, 107]);
  });

  it('hands over a job, and finds its outcomes', async () => {
    const { startJob, job } = client();
    const { id } = await startJob([{ url: site.url('/short') }]);
    await expect.poll(async () => (await job(id)).state).toBe('completed');
    expect((await job(id)).results).toMatchObject([{ index: 0, code: null }]);
  });

  it('consumes the events of a standing query, and again those that it did not process', async () => {
    const { createQuery, query, consume, removeQuery, capture } = client();
    const { id } = await createQuery({ type: ['capture.stored'], host: site.host });
    const urls = ['/short?first', '/short?second', '/short?third'].map((path) => site.url(path));
    const take = async (count: number) => {
      const taken: string[] = [];
      for await (const each of consume(id)) {
        if ('event' in each && 'url' in each.event && taken.push(each.event.url) === count) break;
      }
      return taken;
    };
    const all = take(3);
    for (const url of urls) await capture({ url });
    expect(await all).toEqual(urls);
    // The last one was taken and not processed.
    expect((await query(id)).pending?.events).toBe(1);
    expect(await take(1)).toEqual(urls.slice(2));
    await removeQuery(id);
    await expect(query(id)).rejects.toMatchObject({ code: 'not_found' });
    await expect(consume(id).next()).rejects.toMatchObject({ code: 'not_found' });
  });

  it('says what is wrong with a request, and repeats none that cannot succeed', async () => {
    const wrong = client().capture({ url: site.url('/short'), delayMs: -1 });
    await expect(wrong).rejects.toBeInstanceOf(CapstanFailure);
    await expect(wrong).rejects.toMatchObject({
      code: 'invalid_request',
      status: 400,
      problems: [{ path: 'delayMs' }],
    });
  });

  it('sends no second request when the page cannot be reached', async () => {
    let asked = 0;
    const { capture } = createClient({
      baseUrl: app.baseUrl,
      fetch: (url, init) => {
        asked += 1;
        return fetch(url, init);
      },
    });
    const unreachable = { code: 'target_unreachable', status: 502 };
    await expect(capture({ url: `http://127.0.0.1:${await freePort()}/` })).rejects.toMatchObject(unreachable);
    expect(asked).toBe(1);
  });

  it('waits as long as it is told, and sends the request again with the same idempotency key', async () => {
    const keys: (string | undefined)[] = [];
    const inFlight = (response: ServerResponse) =>
      response.writeHead(409, { 'Retry-After': '0' }).end('{"code":"idempotency_in_flight"}');
    const answers = [
      (response: ServerResponse) => response.writeHead(429, { 'Retry-After': '1' }).end('{"code":"queue_full"}'),
      (response: ServerResponse) => response.writeHead(503, { 'Retry-After': new Date().toUTCString() }).end('<html>'),
      // Breaks the connection within the answer.
      (response: ServerResponse) => response.write('{"data":', () => response.destroy()),
      ...Array.from({ length: 9 }, () => inFlight),
    ];
    await using busy = await answering((request, response) => {
      const answer = answers[keys.length] ?? (() => response.end('{"data":{"id":7}}'));
      keys.push(String(request.headers['idempotency-key']));
      answer(response);
    });
    const startedAt = performance.now();
    expect(await createClient({ baseUrl: busy.url }).capture({ url: 'a.example' })).toEqual({ id: 7 });
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(1_000);
    expect(keys).toHaveLength(answers.length + 1);
    expect(new Set(keys).size).toBe(1);
  });

  it('connects again after the last event when the connection is silent', async () => {
    const asked: (string | undefined)[] = [];
    await using silent = await answering((request, response) => {
      response.writeHead(200, { 'Content-Type': 'text/event-stream' });
      if (asked.push(request.url) === 1) response.write('retry: 2000\nid: 5\n\n');
      else response.write('id: 6\nevent: capture.stored\ndata: {"type":"capture.stored"}\n\n');
    });
    const events = receiveEvents(sender({ baseUrl: silent.url }), {}, { silenceMs: 50 });
    expect(await events.next()).toMatchObject({ value: { id: 6 } });
    expect(asked).toEqual(['/events?', '/events?lastEventId=5']);
    await events.return();
  });

  it('ends a capture when its signal is aborted', async () => {
    const cancel = new AbortController();
    const events = client().events({ types: ['capture.*'], lastEventId: 0 }, { signal: cancel.signal });
    const stop = new AbortController();
    const capturing = client().capture({ url: site.url('/hang') }, { signal: stop.signal });
    capturing.catch(() => undefined);
    const seen = async (type: string) => {
      for (;;) {
        const { value } = await events.next();
        if (
          value !== undefined &&
          'event' in value &&
          value.event.type === type &&
          JSON.stringify(value).includes('/hang')
        )
          return;
      }
    };
    await seen('capture.started');
    stop.abort(new Error('enough'));
    await expect(capturing).rejects.toThrow('enough');
    await seen('capture.cancelled');
    cancel.abort();
  });

  it('yields every outcome and every event once although the service is killed and started again', async () => {
    const port = await freePort();
    const place = await ground();
    const args = ['--port', String(port), '--db-path', 'results.db', '--allow-targets', '127.0.0.1/32'];
    let served = await serve(args, place.options);
    const { batch, events } = createClient({ baseUrl: served.url, retries: 30 });
    const stop = new AbortController();
    const received: ReceivedEvent[] = [];
    const receiving = (async () => {
      for await (const each of events({ types: ['capture.stored'], lastEventId: 0 }, { signal: stop.signal }))
        received.push(each);
    })();
    receiving.catch(() => undefined);
    const urls = Array.from({ length: 7 }, (_, at) => ({ url: site.url(`/short?${at}`) }));
    const indexes: number[] = [];
    for await (const { index, code } of batch(urls, { concurrency: 1 })) {
      expect(code).toBeNull();
      if (indexes.push(index) !== 4) continue;
      served.child.kill('SIGKILL');
      await served.ended;
      served = await serve(args, place.options);
    }
    expect(indexes.toSorted((a, b) => a - b)).toEqual(urls.map((_, at) => at));
    const seen = () =>
      new Set(received.flatMap((each) => ('event' in each && 'url' in each.event ? [each.event.url] : [])));
    const last = urls[indexes.at(-1) ?? 0]?.url;
    await expect.poll(() => seen().has(last ?? '')).toBe(true);
    // Events that the service had not written when it was killed are announced as a gap.
    const gaps = received.filter((each) => 'gap' in each).length;
    expect(seen().size + gaps).toBeGreaterThanOrEqual(urls.length);
    const ids = received.flatMap((each) => ('id' in each ? [each.id] : []));
    expect(ids).toEqual([...new Set(ids)].toSorted((a, b) => a - b));
    stop.abort();
    served.child.kill('SIGTERM');
    await served.ended;
  });
});

describe('verifyWebhook', () => {
  const SECRETS = ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD'];
  const body = '{"type":"capture.stored"}';
  const messageOf = (secret: string, timestamp = Math.floor(Date.now() / 1000)) => ({
    body,
    headers: {
      'webhook-id': 'msg_1',
      'webhook-timestamp': String(timestamp),
      'webhook-signature': signatures([readSecret(secret)], { id: 'msg_1', timestamp, body }),
    },
  });

  it('returns the event of a message that one of the secrets signed', async () => {
    for (const secret of SECRETS)
      expect(await verifyWebhook(messageOf(secret), SECRETS)).toEqual({ type: 'capture.stored' });
    const { headers } = messageOf(SECRETS[0] ?? '');
    expect(await verifyWebhook({ body, headers: new Headers(headers) }, SECRETS)).toEqual({ type: 'capture.stored' });
  });

  it('refuses a message that was changed, signed by another secret, or is old', async () => {
    const [first = '', second = ''] = SECRETS;
    await expect(verifyWebhook({ ...messageOf(first), body: '{}' }, first)).rejects.toThrow('webhook-signature');
    await expect(verifyWebhook(messageOf(first), second)).rejects.toThrow('webhook-signature');
    await expect(verifyWebhook(messageOf(first, 1_600_000_000), first)).rejects.toThrow('webhook-timestamp');
  });
});

describe('the bundle of the client', () => {
  it('is small, and imports nothing', async () => {
    const { outputFiles } = await build({
      entryPoints: [MOD],
      bundle: true,
      minify: true,
      format: 'esm',
      write: false,
    });
    const [file] = outputFiles;
    expect(file?.text).not.toMatch(/\bimport\b|require\(/);
    expect(file?.contents.length).toBeLessThan(MAX_BYTES);
  });
});
