import { EventEmitter, once } from 'node:events';
import { createServer } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { ListedWatchSchema, WatchRunSchema, WatchSchema, WatchValuesSchema } from '../../src/capture/work/watch.ts';
import { type Listening, listening } from '../egress/listening.ts';
import { SECRET, startReceiver } from '../receivers/receiver.ts';
import { failureOf } from './answers.ts';
import { describeWithTenantsOfEachDatabase, type TenantsOf } from './tenants.ts';

const One = z.object({ data: WatchSchema });
const Listed = z.object({ data: z.array(ListedWatchSchema) });
const Many = z.object({ data: z.array(WatchSchema) });
const History = z.object({ data: z.array(WatchRunSchema) });
const Values = z.object({ data: z.array(WatchValuesSchema) });
const Captured = z.object({ data: z.object({ id: z.number() }) });

const [FLOOD, SHOP] = ['flood-key', 'shop-key'];
/** Runs are made by hand, so that no test waits for a time. */
const NEVER = { every: '300d' };
/** A small window: each run draws its pixels and compares them. */
const SMALL = { viewport: { width: 640, height: 480 } };

/** The state of a page of the site. */
interface Page {
  readonly status?: number;
  readonly title?: string;
  /** Where it redirects to. */
  readonly location?: string;
  readonly body: string;
}

const ARTICLE = `<h1>Harbour news</h1><p>${'The ferry to the islands sails at nine. '.repeat(20)}</p>`;
const BANNER = '<div style="height:60px;background:#a00;color:#fff">The ferry does not sail</div>';

describeWithTenantsOfEachDatabase((start, apiNodes, database) => {
  describe('a watch', () => {
    let started: Promise<TenantsOf> | undefined;
    let heard: Promise<ReturnType<typeof collect>> | undefined;
    let site: Listening;
    const pages = new Map<string, Page | ((visit: number) => Page | Promise<Page>)>();
    const visits = new Map<string, number>();

    beforeAll(async () => {
      site = await listening(
        createServer(async (request, response) => {
          const path = request.url ?? '/';
          const visit = (visits.get(path) ?? 0) + 1;
          visits.set(path, visit);
          const found = pages.get(path) ?? { status: 404, body: '<h1>Not found</h1>' };
          const {
            location,
            title = 'Harbour',
            body,
            ...page
          } = typeof found === 'function' ? await found(visit) : found;
          const status = page.status ?? (location === undefined ? 200 : 302);
          response.writeHead(status, {
            'Content-Type': 'text/html; charset=utf-8',
            ...(location && { Location: location }),
          });
          response.end(`<!doctype html><title>${title}</title><body style="font:20px sans-serif">${body}`);
        }),
      );
    });
    afterAll(async () => {
      (await heard)?.end();
      await (await started)?.[Symbol.asyncDispose]();
      await site?.[Symbol.asyncDispose]();
    });

    const running = () => {
      started ??= start({ webhookSecret: [SECRET], allowWebhooks: ['127.0.0.1'], clusterMaxConcurrent: 4 });
      return started;
    };
    const headers = (key: string) => ({ 'X-API-Key': key });
    /** The runs that the first api node tells of, from the first call on. */
    const hearing = () => {
      heard ??= running().then(async ({ one }) =>
        collect(await one.call('/events?type=watch.run', { headers: headers(FLOOD) })),
      );
      return heard;
    };
    const url = (path: string) => `http://127.0.0.1:${site.port}${path}`;
    const post = async (path: string, body: unknown, key = FLOOD) =>
      (await running()).one.post(path, body, { headers: headers(key) });
    const call = async (path: string, init: RequestInit = {}, key = FLOOD) =>
      (await running()).one.call(path, { ...init, headers: { ...headers(key), 'Content-Type': 'application/json' } });
    const watchOf = async (response: Response) => One.parse(await response.json()).data;
    const read = async (id: number) => watchOf(await call(`/watches/${id}`));
    const history = async (id: number) => History.parse(await (await call(`/watches/${id}/history`)).json()).data;

    /** Adds a watch, and waits for its first run. */
    async function watching(path: string, page: Page | ((visit: number) => Page | Promise<Page>), rules: object = {}) {
      pages.set(path, page);
      await hearing();
      const response = await post('/watches', { url: url(path), ...NEVER, ...SMALL, ...rules });
      expect(response.status).toBe(201);
      const { id } = await watchOf(response);
      await runs(id, 1);
      return id;
    }
    /** Waits until a watch has had this many runs, and returns the last. */
    async function runs(id: number, count: number) {
      await (await hearing()).heard(id, count);
      // An event is sent before the run is counted.
      await expect.poll(async () => (await read(id)).runs, { interval: 20 }).toBe(count);
      return (await read(id)).last_run;
    }
    /** Makes a run now. */
    async function run(id: number) {
      const before = (await read(id)).runs;
      expect((await post(`/watches/${id}/run`, undefined)).status).toBe(200);
      return runs(id, before + 1);
    }

    it('captures the page at once, and compares later runs with that capture', async () => {
      const id = await watching('/calm', { body: ARTICLE });
      const first = (await read(id)).last_run;
      expect(first).toMatchObject({ state: 'first', verdict: 'content', before: null, changed: [] });
      expect(await run(id)).toMatchObject({ state: 'unchanged', before: first?.capture, changed: [], share: 0 });
      expect(await read(id)).toMatchObject({ baseline: first?.capture, runs: 2, changes: 0, state: 'active' });
      expect((await history(id)).map(({ state }) => state)).toEqual(['unchanged', 'first']);
    });

    it('fails, and does not report a change, when the page is not content; and tells when it recovers', async () => {
      const events = (await running()).one.call('/events?type=watch.*', { headers: headers(FLOOD) });
      const told = collect(await events);
      const id = await watching('/shop', { body: ARTICLE });
      pages.set('/shop', { status: 500, body: '<h1>Internal Server Error</h1>' });
      expect(await run(id)).toMatchObject({ state: 'failed', verdict: 'error', changed: [] });
      expect(await run(id)).toMatchObject({ state: 'failed' });
      expect(await read(id)).toMatchObject({ failures: 2, changes: 0 });
      pages.set('/shop', { body: ARTICLE });
      expect(await run(id)).toMatchObject({ state: 'unchanged' });
      await expect
        .poll(() => told.of(id))
        .toEqual(['watch.run', 'watch.run', 'watch.failed', 'watch.run', 'watch.run', 'watch.recovered']);
      told.end();
    });

    it('is not due while it is paused, and runs by hand all the same', async () => {
      const id = await watching('/paused', { body: ARTICLE });
      expect(await watchOf(await post(`/watches/${id}/pause`, undefined))).toMatchObject({
        state: 'paused',
        next_run_at: null,
      });
      await run(id);
      expect(await read(id)).toMatchObject({ state: 'paused', next_run_at: null, runs: 2 });
      const resumed = await watchOf(await post(`/watches/${id}/resume`, undefined));
      expect(resumed).toMatchObject({ state: 'active', next_run_at: expect.any(String) });
    });

    it('keeps all of several changes at once, on every api node', async () => {
      const id = await watching('/together', { body: ARTICLE });
      const { apps } = await running();
      const send = (at: number, path: string, method: string, body?: object) =>
        apps[at % apps.length]?.call(`/watches/${id}${path}`, {
          method,
          headers: { ...headers(FLOOD), 'Content-Type': 'application/json' },
          ...(body && { body: JSON.stringify(body) }),
        });
      for (let round = 0; round < 5; round += 1) {
        const answers = await Promise.all([
          send(round, '', 'PATCH', { labels: [`round ${round}`] }),
          send(round + 1, '', 'PATCH', { keep: 10 + round }),
          send(round, '', 'PATCH', { fullPage: round % 2 === 0 }),
          send(round + 1, round % 2 === 0 ? '/pause' : '/resume', 'POST'),
        ]);
        expect(answers.map((response) => response?.status)).toEqual([200, 200, 200, 200]);
        expect(await read(id)).toMatchObject({
          labels: [`round ${round}`],
          keep: 10 + round,
          options: round % 2 === 0 ? { fullPage: true } : expect.not.objectContaining({ fullPage: true }),
          state: round % 2 === 0 ? 'paused' : 'active',
        });
        const labelled = await call(`/watches?label=round%20${round}`);
        expect(Many.parse(await labelled.json()).data.map((watch) => watch.id)).toEqual([id]);
      }
    });

    it('makes a run again, with the new rules, when it is changed meanwhile; at most two of a host at once', async () => {
      const ids = [
        await watching('/meanwhile/0', { body: ARTICLE }),
        await watching('/meanwhile/1', { body: ARTICLE }),
      ];
      const goOn = Promise.withResolvers<void>();
      const atOnce = { now: 0, most: 0 };
      const held = async () => {
        atOnce.now += 1;
        atOnce.most = Math.max(atOnce.most, atOnce.now);
        await goOn.promise;
        atOnce.now -= 1;
        return { body: BANNER + ARTICLE };
      };
      for (const at of ids.keys()) pages.set(`/meanwhile/${at}`, held);
      for (const id of ids) await post(`/watches/${id}/run`, undefined);
      await expect.poll(() => atOnce.now).toBe(2);
      const body = JSON.stringify({ compare: { title: true }, labels: ['meanwhile'] });
      for (const id of ids) expect((await call(`/watches/${id}`, { method: 'PATCH', body })).status).toBe(200);
      for (const command of ['pause', 'resume', 'run']) await post(`/watches/${ids[0]}/${command}`, undefined);
      // It is due after those that were changed, so they had their turn in the other process when it has run.
      pages.set('/elsewhere', { body: ARTICLE });
      const other = (await running()).apps.at(-1);
      const wanted = { url: `http://localhost:${site.port}/elsewhere`, ...NEVER };
      const elsewhere = await other?.post('/watches', wanted, { headers: headers(FLOOD) });
      await runs((await watchOf(elsewhere ?? new Response())).id, 1);
      goOn.resolve();
      for (const id of ids) {
        expect(await runs(id, 2)).toMatchObject({ state: 'unchanged' });
        expect(await read(id)).toMatchObject({ labels: ['meanwhile'], runs: 2 });
        expect(await history(id)).toHaveLength(2);
      }
      expect(atOnce).toEqual({ now: 0, most: 2 });
    });

    it('tells its own key, its callback and its receivers what it finds, on every api node', async () => {
      await using receiver = await startReceiver();
      await using chat = await startReceiver();
      const { apps, one } = await running();
      const other = apps.at(-1) ?? one;
      const hear = async (key: string) => collect(await other.call('/events?type=watch.*', { headers: headers(key) }));
      const [own, shop] = [await hear(FLOOD), await hear(SHOP)];
      const given = { name: 'chat', kind: 'discord', address: chat.url };
      expect((await other.post('/receivers', given, { headers: headers(FLOOD) })).status).toBe(201);
      const id = await watching('/told', { body: ARTICLE }, { callback: receiver.url, notify: ['chat'] });
      pages.set('/told', { body: BANNER + ARTICLE });
      await run(id);
      const { id: ofShop } = await watchOf(await post('/watches', { url: url('/told'), ...NEVER }, SHOP));
      await expect.poll(() => own.of(id)).toEqual(['watch.run', 'watch.run', 'watch.changed']);
      await expect.poll(() => shop.of(ofShop)).toEqual(['watch.run']);
      expect([own.of(ofShop), shop.of(id)]).toEqual([[], []]);
      const received = () => receiver.received.map(({ body }) => JSON.parse(body));
      await expect.poll(received).toEqual([expect.objectContaining({ type: 'watch.changed', watch: id })]);
      await expect
        .poll(() => chat.received.map(({ body }) => body))
        .toEqual([expect.stringMatching(/region changed.+the image/)]);
      const ask = {
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: { name: 'watches', arguments: { watch: id } },
      };
      const Accept = 'application/json, text/event-stream';
      const asAgent = async (key: string) =>
        (await other.post('/mcp', ask, { headers: { ...headers(key), Accept } })).text();
      expect(await asAgent(FLOOD)).toContain('/told');
      expect(await asAgent(SHOP)).toContain('not_found');
      await call(`/watches/${ofShop}`, { method: 'DELETE' }, SHOP);
      own.end();
      shop.end();
    });

    // One process with MongoDB has the watches of the cluster, and the queue of one process with SQLite.
    if (database === 'SQLite' || apiNodes > 1) {
      it('reports a change with its region, and compares with the changed page from then on', async () => {
        const id = await watching('/news', { body: ARTICLE });
        const { baseline } = await read(id);
        pages.set('/news', { body: BANNER + ARTICLE });
        const changed = await run(id);
        expect(changed).toMatchObject({ state: 'changed', before: baseline, changed: ['visual'] });
        expect(changed?.regions).toEqual([expect.objectContaining({ kind: 'inserted' })]);
        expect(await read(id)).toMatchObject({ baseline: changed?.capture, changes: 1 });
        expect(await run(id)).toMatchObject({ state: 'unchanged' });
      });

      it('reads values of the page, and tells when a condition on them begins to hold', async () => {
        const shop = (price: string, rest = '') => ({ body: `${ARTICLE}<p class=price>${price}</p>${rest}` });
        const rules = {
          values: { price: { selector: '.price', type: 'money' }, jobs: { selector: '.job', type: 'count' } },
          when: { value: 'price', below: 50 },
        };
        const id = await watching('/price', shop('59.00 €'), rules);
        const { baseline, last_run: first } = await read(id);
        const euros = (amount: number) => ({ amount, to: null, currency: 'EUR' });
        expect(first).toMatchObject({ state: 'first', values: { price: { value: euros(59), text: '59.00 €' } } });

        pages.set('/price', shop('<del>59.00 €</del> 47.50 €', BANNER));
        expect(await run(id)).toMatchObject({
          state: 'changed',
          before: baseline,
          changed: ['values'],
          reason: 'price fell from €59.00 to €47.50',
          values: { price: { value: euros(47.5) }, jobs: { value: 0 } },
        });
        expect(await run(id)).toMatchObject({ state: 'unchanged', reason: null });
        pages.set('/price', shop('Price on request'));
        const unread = { price: { value: null, text: 'Price on request' } };
        expect(await run(id)).toMatchObject({ state: 'unchanged', values: unread });
        pages.set('/price', shop('48.00 €'));
        expect(await run(id)).toMatchObject({ state: 'unchanged', values: { price: { value: euros(48) } } });
        pages.set('/price', shop('61.00 €'));
        const dear = await run(id);
        pages.set('/price', shop('49.00 €'));
        expect(await run(id)).toMatchObject({ before: dear?.capture, reason: 'price fell from €61.00 to €49.00' });
        expect(await read(id)).toMatchObject({
          changes: 2,
          values: { price: { selector: '.price' } },
          when: rules.when,
        });
      });

      it('answers with the history of its values, also as CSV', async () => {
        const rules = { values: { price: { selector: '.price', type: 'money' }, stock: '.stock' }, confirm: false };
        const page = (price: string, stock: string) => ({
          body: `${ARTICLE}<p class=price>${price}</p><p class=stock>${stock}</p>`,
        });
        const id = await watching('/history', page('59.00 €', '=1+1'), rules);
        pages.set('/history', page('Sold "out"', 'none, at all'));
        await run(id);
        const { data } = Values.parse(await (await call(`/watches/${id}/values`)).json());
        const price = { amount: 59, to: null, currency: 'EUR' };
        expect(data.map(({ values }) => values?.price?.value)).toEqual([null, price]);
        const csv = await call(`/watches/${id}/values?format=csv`);
        expect(csv.headers.get('Content-Type')).toBe('text/csv; charset=utf-8');
        const [head, newest, oldest] = (await csv.text()).split('\r\n').map((line) => line.split(',').slice(1));
        expect(head).toEqual(['state', 'capture', 'price', 'price_to', 'price_currency', 'price_text', 'stock']);
        expect([newest?.[0], ...(newest?.slice(2) ?? [])]).toEqual([
          'changed',
          '',
          '',
          '',
          '"Sold ""out"""',
          '"none',
          ' at all"',
        ]);
        expect([oldest?.[0], ...(oldest?.slice(2) ?? [])]).toEqual(['first', '59', '', 'EUR', '59.00 €', "'=1+1"]);
      });

      it('is listed with its newest runs, in one request for all watches', async () => {
        const id = await watching('/listed', { body: ARTICLE });
        pages.set('/listed', { body: BANNER + ARTICLE });
        await run(id);
        await run(id);
        const runs = (await history(id)).map(({ regions: _regions, ...kept }) => kept);
        expect(runs.map(({ state }) => state)).toEqual(['unchanged', 'changed', 'first']);
        const listed = async (query: string) =>
          Listed.parse(await (await call(`/watches${query}`)).json()).data.find((watch) => watch.id === id)
            ?.recent_runs;
        expect(await listed('?recent=2')).toEqual(runs.slice(0, 2));
        expect(await listed('?recent=50')).toEqual(runs);
        expect(await listed('')).toBeUndefined();
        expect((await call('/watches?recent=51')).status).toBe(400);
        expect(Listed.parse(await (await call('/watches?recent=5', {}, SHOP)).json()).data).toEqual([]);
      });

      it('keeps as many runs as it is told to, and removes the captures of older ones', async () => {
        const id = await watching('/kept', { body: ARTICLE }, { keep: 2 });
        const second = await run(id);
        await run(id);
        await run(id);
        expect(await history(id)).toHaveLength(2);
        const gone = async () => (await call(`/screenshot/${second?.capture}`)).status;
        await expect.poll(gone).toBe(404);
        const { baseline } = await read(id);
        expect((await call(`/screenshot/${baseline}`)).status).toBe(200);
      });

      it('is changed field by field, and keeps its history', async () => {
        const id = await watching('/changing', { body: ARTICLE }, { labels: ['news'], fullPage: true });
        const body = JSON.stringify({ labels: ['prices'], fullPage: null, every: null, schedule: '0 9 * * 1-5' });
        const response = await call(`/watches/${id}`, { method: 'PATCH', body });
        expect(await watchOf(response)).toMatchObject({
          labels: ['prices'],
          options: {},
          every: null,
          schedule: '0 9 * * 1-5',
          time_zone: 'UTC',
          runs: 1,
        });
        // A capture with other options is compared with none before it.
        expect(await run(id)).toMatchObject({ state: 'first', reason: expect.stringContaining('other options') });
        const bad = await call(`/watches/${id}`, { method: 'PATCH', body: '{"every":"10m"}' });
        expect(await failureOf(bad)).toMatchObject({ code: 'invalid_request' });
        expect((await read(id)).schedule).toBe('0 9 * * 1-5');
      });

      /** 500 kB of actions, whose input is on no page. */
      const actions = Array.from({ length: 50 }, () => ({ type: 'type', selector: 'input', text: 'x'.repeat(9_990) }));

      it('is listed without its body, and keeps it when it is changed', async () => {
        // The runs end early, as each holds one of the two places of its host.
        const timeoutMs = 1_000;
        const body = { url: url('/large'), ...NEVER, actions, timeoutMs };
        const ids: number[] = [];
        for (let watch = 0; watch < 3; watch += 1) {
          const { id, options, options_withheld: withheld } = await watchOf(await post('/watches', body));
          expect([options, withheld]).toEqual([{ timeoutMs }, ['actions']]);
          ids.push(id);
        }
        const listed = await (await call('/watches?limit=1000')).text();
        expect(Many.parse(JSON.parse(listed)).data.map(({ id }) => id)).toEqual(expect.arrayContaining(ids));
        expect(listed.length).toBeLessThan(200_000);
        for (const id of ids) {
          const changed = await call(`/watches/${id}`, { method: 'PATCH', body: '{"labels":["large"]}' });
          expect(await watchOf(changed)).toMatchObject({ labels: ['large'], options_withheld: ['actions'] });
          expect((await call(`/watches/${id}`, { method: 'DELETE' })).status).toBe(200);
        }
      });

      it('is not changed to a body of more than 1 MiB, by no part of it', async () => {
        const id = await watching('/growing', { body: ARTICLE });
        const patch = async (change: object) =>
          call(`/watches/${id}`, { method: 'PATCH', body: JSON.stringify(change) });
        expect((await patch({ actions })).status).toBe(200);
        const fields = Object.fromEntries(actions.map(({ text }, at) => [`${at}`, text]));
        expect((await patch({ form: { fields } })).status).toBe(200);
        const refused = await patch({ css: 'x'.repeat(60_000) });
        expect(refused.status).toBe(413);
        const error = 'The body of the watch would be larger than 1 MiB with this change.';
        expect(await failureOf(refused)).toMatchObject({ code: 'payload_too_large', error });
        expect((await read(id)).options_withheld).toEqual(['actions', 'form']);
        expect((await patch({ form: null, css: 'x'.repeat(60_000) })).status).toBe(200);
      });

      it('shows no password of its callback, and uses it', async () => {
        await using receiver = await startReceiver();
        const callback = receiver.url.replace('http://', 'http://name:secret@');
        const id = await watching('/secret', { body: ARTICLE }, { callback });
        for (const path of ['/watches?limit=1000', `/watches/${id}`]) {
          const text = await (await call(path)).text();
          expect([text.includes(receiver.url), text.includes('secret@'), text.includes('name:')]).toEqual([
            true,
            false,
            false,
          ]);
        }
        pages.set('/secret', { body: BANNER + ARTICLE });
        await run(id);
        await expect.poll(() => receiver.received.length).toBe(1);
        expect(receiver.received[0]?.headers.authorization).toBe(`Basic ${btoa('name:secret')}`);
      });

      it('is refused for a target that may not be captured, when it is added and when it is changed', async () => {
        const response = await post('/watches', { url: 'http://10.0.0.1/', ...NEVER });
        expect(response.status).toBe(403);
        expect(await failureOf(response)).toMatchObject({ code: 'target_forbidden' });
        const id = await watching('/allowed', { body: ARTICLE });
        const changed = await call(`/watches/${id}`, { method: 'PATCH', body: '{"url":"http://10.0.0.1/"}' });
        expect(changed.status).toBe(403);
      });

      it('follows a page that redirects, and fails where it leads to an address that may not be captured', async () => {
        pages.set('/moved', { body: ARTICLE });
        const id = await watching('/old', { location: url('/moved'), body: '' });
        pages.set('/moved', { body: BANNER + ARTICLE });
        expect(await run(id)).toMatchObject({ state: 'changed' });
        pages.set('/old', { location: 'http://10.0.0.1/', body: '' });
        expect(await run(id)).toMatchObject({ state: 'failed', code: 'target_forbidden', changed: [] });
      });

      it('compares with the newest unchanged capture when its baseline was removed, and says when both were', async () => {
        const id = await watching('/forgotten', { body: ARTICLE });
        const newest = (await run(id))?.capture;
        const forget = async (capture: number | null | undefined) =>
          expect((await call(`/screenshot/${capture}`, { method: 'DELETE' })).status).toBe(200);
        await forget((await read(id)).baseline);
        expect(await run(id)).toMatchObject({ state: 'unchanged', before: newest });
        await forget(newest);
        await forget((await read(id)).last_run?.capture);
        expect(await run(id)).toMatchObject({ state: 'first', reason: expect.stringContaining(`${newest}`) });
      });

      it('is seen by its own key alone', async () => {
        const id = await watching('/mine', { body: ARTICLE });
        const list = async (key: string) => Many.parse(await (await call('/watches', {}, key)).json()).data;
        expect((await list(FLOOD)).map((watch) => watch.id)).toContain(id);
        expect(await list(SHOP)).toEqual([]);
        const others: readonly [string, RequestInit][] = [
          [`/watches/${id}`, {}],
          [`/watches/${id}/history`, {}],
          [`/watches/${id}`, { method: 'PATCH', body: '{}' }],
          [`/watches/${id}`, { method: 'DELETE' }],
          [`/watches/${id}/run`, { method: 'POST' }],
        ];
        for (const [path, init] of others) expect((await call(path, init, SHOP)).status).toBe(404);
        const { baseline } = await read(id);
        const accepting = await post('/watches', { url: url('/mine'), ...NEVER, accept: [baseline] }, SHOP);
        expect(accepting.status).toBe(404);
      });

      it('is removed, and its captures stay', async () => {
        const id = await watching('/removed', { body: ARTICLE });
        const { baseline } = await read(id);
        expect((await call(`/watches/${id}`, { method: 'DELETE' })).status).toBe(200);
        expect((await call(`/watches/${id}`)).status).toBe(404);
        expect((await call(`/screenshot/${baseline}`)).status).toBe(200);
      });
    }

    // The meaning of rules and fields does not depend on the store, or on the nodes.
    if (database === 'SQLite') {
      it('fails when the page has none of the values any more, and knows the last ones when they are back', async () => {
        const rules = { values: { price: { selector: '.price', type: 'money' } } };
        const id = await watching('/redesign', { body: `${ARTICLE}<p class=price>59.00 €</p>` }, rules);
        pages.set('/redesign', { body: `${ARTICLE}<p class=cost>47.50 €</p>` });
        expect(await run(id)).toMatchObject({ state: 'failed', reason: 'The page has none of the values: price.' });
        pages.set('/redesign', { body: `${ARTICLE}<p class=price>47.50 €</p>` });
        expect(await run(id)).toMatchObject({ state: 'changed', reason: 'price fell from €59.00 to €47.50' });
      });

      it('does not report a change that is gone when the page is captured again', async () => {
        const id = await watching('/flicker', (visit) => ({ body: visit === 2 ? BANNER + ARTICLE : ARTICLE }));
        expect(await run(id)).toMatchObject({ state: 'unconfirmed', changed: [] });
        expect(await read(id)).toMatchObject({ changes: 0 });
      });

      it('compares what its rules name', async () => {
        const rules = { compare: { title: true, text: true, status: true } };
        const id = await watching('/parts', { body: ARTICLE }, rules);
        pages.set('/parts', { title: 'Closed', status: 503, body: '<h1>Closed</h1>' });
        expect(await run(id)).toMatchObject({ state: 'changed', changed: ['text', 'status', 'title'], share: null });
      });

      it('leaves out what is ignored', async () => {
        const rules = { compare: { visual: true, text: true }, ignore: ['0,0,1280,720', 'text:Seen by *'] };
        const id = await watching('/seen', { body: `${ARTICLE}<p>Seen by 5` }, rules);
        pages.set('/seen', { body: `${ARTICLE}<p>Seen by 6` });
        expect(await run(id)).toMatchObject({ state: 'unchanged', changed: [] });
        pages.set('/seen', { body: `${ARTICLE}<p>Closed` });
        expect(await run(id)).toMatchObject({ state: 'changed', changed: ['text'] });
      });

      it('watches elements by selector, without ignored ones', async () => {
        const shop = (price: string, visitors: string, advert: string) => ({
          body: `${ARTICLE}<p class=price>${price}</p><p class=visitors>${visitors}</p>${advert}`,
        });
        const id = await watching('/shop', shop('12', '5', ''), { compare: { elements: ['.price'] } });
        pages.set('/shop', shop('12', '6', BANNER));
        expect(await run(id)).toMatchObject({ state: 'unchanged', changed: [] });
        pages.set('/shop', shop('14', '6', ''));
        expect(await run(id)).toMatchObject({ state: 'changed', changed: ['elements'] });

        const calm = await watching('/counter', shop('12', '5', ''), { ignore: ['selector:.visitors'] });
        pages.set('/counter', shop('12', '123,456', ''));
        expect(await run(calm)).toMatchObject({ state: 'unchanged', changed: [], share: 0 });
        for (const rules of [{ compare: { elements: ['p:unknown'] } }, { elementMap: false, ignore: ['selector:p'] }]) {
          expect((await post('/watches', { url: url('/shop'), ...NEVER, ...rules })).status).toBe(400);
        }
      });

      it('takes an accepted capture for unchanged', async () => {
        pages.set('/ab', { body: BANNER + ARTICLE });
        const other = Captured.parse(await (await post('/screenshot', { url: url('/ab'), ...SMALL })).json()).data.id;
        const id = await watching('/ab', { body: ARTICLE }, { accept: [other] });
        pages.set('/ab', { body: BANNER + ARTICLE });
        expect(await run(id)).toMatchObject({ state: 'unchanged', before: other });
      });

      it.each([
        [{}, 'every: is required, unless schedule is given'],
        [{ every: '10 minutes' }, 'every: must be a number and one of s, m, h or d'],
        [{ every: '1s' }, 'from 10s to 366d'],
        [{ every: '10m', schedule: '* * * * *' }, 'schedule: cannot be combined with every'],
        [{ schedule: '61 * * * *' }, 'Invalid value for minute'],
        [{ schedule: '0 0 30 2 *' }, 'is never due'],
        [{ schedule: '0 9 * * *', timeZone: 'Berlin' }, 'timeZone: is not a time zone'],
        [{ every: '10m', compare: {} }, 'compare: must choose at least one'],
        [{ every: '10m', html: '<p>' }, 'html'],
      ])('refuses %j, and says what is accepted', async (rules, text) => {
        const response = await post('/watches', { url: 'https://example.com/', ...rules });
        expect(response.status).toBe(400);
        expect((await failureOf(response)).error).toContain(text);
      });
    }
  });
});

/** Reads events, and returns the types of those of a watch. */
function collect(response: Response) {
  const events: { readonly type: string; readonly watch: number }[] = [];
  const arrivals = new EventEmitter().setMaxListeners(0);
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  const pump = async () => {
    for (let rest = ''; ; ) {
      const { done = true, value = '' } = (await reader?.read()) ?? {};
      if (done) return;
      const lines = (rest + value).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) if (line.startsWith('data: {')) events.push(JSON.parse(line.slice(6)));
      arrivals.emit('events');
    }
  };
  void pump().catch(() => undefined);
  const of = (id: number) => events.filter(({ watch }) => watch === id).map(({ type }) => type);
  return {
    of,
    /** Resolves when this many events of a watch have come. */
    heard: async (id: number, count: number) => {
      while (of(id).length < count) await once(arrivals, 'events');
    },
    end: () => void reader?.cancel(),
  };
}
