import { createServer } from 'node:http';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { FeedSchema } from '../../src/capture/finding/feed.ts';
import { WatchSchema } from '../../src/capture/work/watch.ts';
import { KeyRing } from '../../src/http/keys/key-ring.ts';
import { type Listening, listening } from '../egress/listening.ts';
import { forSuite } from '../support/for-suite.ts';
import type { RunningApp } from '../support/serve.ts';
import { NO_BROWSER, startService } from '../support/service.ts';
import { makeDirectory } from '../support/temporary-directory.ts';
import { targetOf } from './answers.ts';
import { atomOf, jsonOf } from './feed-readers.ts';
import { keepCapture } from './stored-capture.ts';
import { describeWithTenantsOfEachDatabase, TENANTS, tenantsForSuite } from './tenants.ts';

const signingKey = ['a-signing-key-of-at-least-32-characters'];
const Feed = z.object({ data: FeedSchema });
const Watch = z.object({ data: WatchSchema });
const KEY = { 'X-API-Key': 'shop-key' };

type App = Pick<RunningApp, 'call' | 'post'>;
const feedOf = async (app: App, body: unknown, headers: Record<string, string> = KEY) => {
  const response = await app.post('/feeds', body, { headers });
  expect(response.status).toBe(200);
  return Feed.parse(await response.json()).data;
};

const page = (price: string) =>
  `<title>Lamp</title><h1>Lamp</h1><p>${'A lamp for the harbour. '.repeat(20)}</p><p class="price">${price}</p>`;

describeWithTenantsOfEachDatabase((start) => {
  describe('a feed of a watch', () => {
    let shown: { readonly status: number; readonly body: string };
    const site: Listening = forSuite(
      () =>
        listening(
          createServer((_request, response) => {
            response.writeHead(shown.status, { 'Content-Type': 'text/html; charset=utf-8' });
            response.end(shown.body);
          }),
        ),
      async (running) => running[Symbol.asyncDispose](),
    );
    const tenants = tenantsForSuite(() => start({ clusterMaxConcurrent: 2 }, { signingKey }));

    it('has its changes, failures and recoveries, each once on every node, with the comparison', async () => {
      const t = await tenants();
      const { one } = t;
      shown = { status: 200, body: page('€59.00') };
      const values = { price: { selector: '.price', type: 'money' } };
      const body = { url: `http://127.0.0.1:${site.port}/lamp`, every: '300d', values, labels: ['lamps'] };
      const added = await one.post('/watches', body, { headers: KEY });
      const { id } = Watch.parse(await added.json()).data;
      const runs = async (count: number) => {
        const read = async () =>
          Watch.parse(await (await one.call(`/watches/${id}`, { headers: KEY })).json()).data.runs;
        await expect.poll(read).toBe(count);
      };
      const run = async (count: number, next: typeof shown) => {
        shown = next;
        await one.post(`/watches/${id}/run`, undefined, { headers: KEY });
        await runs(count);
      };
      await runs(1);
      const feed = await feedOf(one, { watch: id });
      expect((await atomOf(one, feed.atom)).entries).toEqual([]);
      await run(2, { status: 200, body: page('€47.50') });
      const failing = { status: 500, body: '<h1>Internal server error</h1>' };
      await run(3, failing);
      await run(4, failing);
      await run(5, { status: 200, body: page('€30.00') });
      await run(6, { status: 200, body: page('€30.00') });
      for (const app of t.apps) {
        const { entries } = await atomOf(app, feed.atom);
        expect(entries.map(({ title }) => title)).toEqual([
          'Price fell from €47.50 to €30.00',
          'The page can be captured again',
          expect.stringMatching(/^The page cannot be captured any more: The page is not content but error/),
          'Price fell from €59.00 to €47.50',
        ]);
        expect(new Set(entries.map(({ id }) => id)).size).toBe(4);
        const json = await jsonOf(app, feed.json);
        expect(json.items.map(({ id }) => id)).toEqual(entries.map(({ id }) => id));
        const [change] = entries;
        expect(change?.categories).toEqual(['lamps']);
        const shownPage = await (await app.call(targetOf(change?.links.alternate ?? ''))).text();
        expect(shownPage).toContain('What changed: Lamp');
        const [, difference = ''] = /<img src="([^"]+)"/.exec(change?.content ?? '') ?? [];
        const drawing = await app.call(targetOf(difference.replaceAll('&amp;', '&')));
        expect(drawing.headers.get('Content-Type')).toBe('image/png');
        const picture = await app.call(targetOf(change?.enclosure?.href ?? ''));
        expect((await picture.arrayBuffer()).byteLength).toBe(change?.enclosure?.length);
      }
      expect((await one.post('/feeds', { watch: id }, { headers: { 'X-API-Key': 'flood-key' } })).status).toBe(404);
      await one.call(`/watches/${id}`, { method: 'DELETE', headers: KEY });
      for (const app of t.apps) expect((await app.call(targetOf(feed.atom))).status).toBe(404);
    });
  });
});

describe('a feed', () => {
  it('is listed and revoked also when the service was started without a signing key', async () => {
    const directory = await makeDirectory();
    const place = { ...NO_BROWSER, dbPath: join(directory, 'results.db'), dataDir: join(directory, 'data') };
    const first = await startService(place, { signingKey });
    const { id } = await feedOf(first, { label: 'kept' }, {});
    await first.stop();
    const second = await startService(place);
    const ids = async () => {
      const listed = await second.call('/feeds');
      return z.object({ data: z.array(z.object({ id: z.string() })) }).parse(await listed.json()).data;
    };
    expect(await ids()).toEqual([{ id }]);
    expect((await second.call(`/feeds/${id}`, { method: 'DELETE' })).status).toBe(200);
    expect(await ids()).toEqual([]);
    await second.stop();
  });

  it('is the same after a restart, and ends when its key is removed', async () => {
    const directory = await makeDirectory();
    const place = { ...NO_BROWSER, dbPath: join(directory, 'results.db'), dataDir: join(directory, 'data') };
    const [flood, shop] = TENANTS;
    const keys = { apiKey: [flood.key, shop.key, 'unnamed-key'], namedKeys: [flood, shop] };
    const http = { ...keys, signingKey, isolateKeys: true };
    const first = await startService(place, http);
    const { result } = await keepCapture(first.service, 7, { api_key_name: 'shop', labels: ['kept'] });
    await first.service.results.insert(result);
    const ofShop = await feedOf(first, { label: 'kept' });
    const ofAll = await feedOf(first, { label: 'kept' }, { 'X-API-Key': 'unnamed-key' });
    const before = await atomOf(first, ofShop.atom);
    await first.stop();

    const keyRing = new KeyRing(keys);
    const second = await startService(place, { ...http, keyRing });
    const after = await atomOf(second, ofShop.atom);
    expect(after.entries.map(({ id, updated }) => [id, updated])).toEqual(
      before.entries.map(({ id, updated }) => [id, updated]),
    );
    const picture = targetOf(after.entries[0]?.enclosure?.href ?? '');
    const statuses = () =>
      Promise.all(
        [targetOf(ofShop.atom), picture, targetOf(ofAll.json)].map(async (path) => (await second.call(path)).status),
      );
    expect(await statuses()).toEqual([200, 200, 200]);
    keyRing.replace({ apiKey: [flood.key, 'unnamed-key'], namedKeys: [flood] });
    expect(await statuses()).toEqual([404, 404, 200]);
    keyRing.replace({ apiKey: [flood.key, shop.key], namedKeys: [flood, shop] });
    expect(await statuses()).toEqual([200, 200, 404]);
    await second.stop();
  });
});
