import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { FeedSchema } from '../../src/capture/finding/feed.ts';
import type { RunningApp } from '../support/serve.ts';
import { NO_BROWSER } from '../support/service.ts';
import { failureOf, targetOf } from './answers.ts';
import { atomOf, jsonOf } from './feed-readers.ts';
import {
  ask,
  describeWithTenantsOfEachDatabase,
  keepForShop,
  READER,
  ROOT,
  TENANTS,
  tenantsForSuite,
} from './tenants.ts';

const KEYS = [...TENANTS, ROOT, READER];
const KEYED = {
  apiKey: KEYS.map(({ key }) => key),
  namedKeys: KEYS,
  signingKey: ['a-signing-key-of-at-least-32-characters'],
};

const Feed = z.object({ data: FeedSchema });
const Feeds = z.object({ data: z.array(FeedSchema) });

const HOSTILE = '<script>alert(1)</script>]]> & "\' \u0000\u0008\u{1F}\uFFFE\uD800 &#0; café';
const SHOWN = '<script>alert(1)</script>]]> & "\' \uFFFD\uFFFD\uFFFD\uFFFD\uFFFD &#0; café';

describeWithTenantsOfEachDatabase((start) => {
  const tenants = tenantsForSuite(() => start(NO_BROWSER, KEYED));

  const make = async (app: RunningApp, key: string, body: unknown) => {
    const response = await ask(app, key, '/feeds', 'POST', body);
    expect(response.status).toBe(200);
    return Feed.parse(await response.json()).data;
  };

  describe('a feed', () => {
    it('lists the captures with a label on every node without a key, newest first, with pictures as enclosures', async () => {
      const t = await tenants();
      const { image } = await keepForShop(t, 11, {
        title: HOSTILE,
        url: 'https://shop.example/a?b=1&c=^|',
        labels: ['lamps'],
      });
      await keepForShop(t, 12, { title: 'Newer', labels: ['lamps', 'second'] });
      await keepForShop(t, 13, { labels: ['others'] });
      const feed = await make(t.one, 'shop-key', { label: 'lamps' });
      expect(feed).toMatchObject({ label: 'lamps', api_key_name: 'shop' });
      for (const app of t.apps) {
        const atom = await atomOf(app, feed.atom);
        expect(atom.entries.map(({ id }) => id)).toEqual(['urn:capstan:capture:12', 'urn:capstan:capture:11']);
        expect(atom.updated).toBe('2027-01-15T08:00:12.000Z');
        const [newer, hostile] = atom.entries;
        expect(newer?.categories).toEqual(['lamps', 'second']);
        expect(hostile?.title).toBe(SHOWN);
        expect(hostile?.published).toBe('2027-01-15T08:00:11.000Z');
        expect(hostile?.content).not.toMatch(/<script|onerror/);
        expect(hostile?.links.related).toBe('https://shop.example/a?b=1&c=%5E%7C');
        const { href = '', type, length } = hostile?.enclosure ?? {};
        expect({ type, length }).toEqual({ type: 'image/png', length: image.length });
        const picture = await app.call(targetOf(href));
        expect(picture.headers.get('Content-Type')).toBe('image/png');
        expect(picture.headers.get('Cache-Control')).toBe('public, max-age=2592000');
        expect(Buffer.from(await picture.arrayBuffer()).equals(image)).toBe(true);
        expect((await app.call(targetOf(hostile?.links.alternate ?? ''))).headers.get('Content-Type')).toMatch(
          'text/html',
        );

        const json = await jsonOf(app, feed.json);
        expect(json.items.map(({ id }) => id)).toEqual(atom.entries.map(({ id }) => id));
        expect(json.items[1]?.title).toBe(HOSTILE.toWellFormed());
        expect(json.items[1]?.attachments?.[0]).toEqual({
          url: href,
          mime_type: 'image/png',
          size_in_bytes: image.length,
        });
      }
    });

    it('pages through all captures of a search and of a scan, each once', async () => {
      const t = await tenants();
      const scan = 'a1a1a1a1-1111-4111-8111-a1a1a1a1a1a1';
      for (let id = 1000; id < 1120; id += 1) await keepForShop(t, id, { host: 'paged.example', scan });
      const ids = Array.from({ length: 120 }, (_, at) => `urn:capstan:capture:${1119 - at}`);
      for (const wanted of [{ search: { host: 'paged.example', outcome: 'stored' } }, { scan }]) {
        const feed = await make(t.one, 'shop-key', wanted);
        expect(feed).toMatchObject(wanted);
        const found: string[] = [];
        for (let next: string | undefined = feed.atom; next !== undefined; ) {
          const page = await atomOf(t.one, next);
          found.push(...page.entries.map(({ id }) => id));
          next = page.links.next;
        }
        expect(found).toEqual(ids);
        const inJson: string[] = [];
        for (let next: string | undefined = feed.json; next !== undefined; ) {
          const page = await jsonOf(t.one, next);
          inJson.push(...page.items.map(({ id }) => id));
          next = page.next_url;
        }
        expect(inJson).toEqual(ids);
      }
    });

    it('answers 304 to its ETag until a capture comes, and HEAD without a body', async () => {
      const t = await tenants();
      await keepForShop(t, 31, { labels: ['tagged'] });
      const { url } = await make(t.one, 'shop-key', { label: 'tagged' });
      const app = t.one;
      const first = await app.call(targetOf(url));
      expect(first.headers.get('Content-Type')).toBe('application/atom+xml; charset=utf-8');
      expect(first.headers.get('Last-Modified')).toBe('Fri, 15 Jan 2027 08:00:31 GMT');
      expect(first.headers.get('Cache-Control')).toBe('private, max-age=60');
      const etag = first.headers.get('ETag') ?? '';
      const again = (tag: string) => app.call(targetOf(url), { headers: { 'If-None-Match': tag } });
      expect((await again(etag)).status).toBe(304);
      const head = await app.call(targetOf(url), { method: 'HEAD' });
      expect([head.status, head.headers.get('ETag'), await head.text()]).toEqual([200, etag, '']);
      const json = await app.call(targetOf(url), { headers: { Accept: 'application/feed+json' } });
      expect(json.headers.get('Content-Type')).toBe('application/feed+json; charset=utf-8');
      expect(json.headers.get('Vary')).toContain('Accept');
      expect(json.headers.get('ETag')).not.toBe(etag);
      await keepForShop(t, 30, { labels: ['tagged'] });
      expect((await again(etag)).status).toBe(200);
    });

    it('shows nothing of other keys, and is listed and revoked by its own key and an administrator', async () => {
      const t = await tenants();
      await keepForShop(t, 41, { labels: ['mine'] });
      await keepForShop(t, 42, { labels: ['mine'], api_key_name: 'flood' });
      const feed = await make(t.one, 'shop-key', { label: 'mine' });
      const all = await make(t.one, 'root-key', { label: 'mine' });
      expect((await atomOf(t.one, feed.atom)).entries.map(({ id }) => id)).toEqual(['urn:capstan:capture:41']);
      const { entries } = await atomOf(t.one, all.atom);
      expect(entries).toHaveLength(2);
      // A key of its own does not widen what the feed shows.
      expect((await (await ask(t.one, 'root-key', targetOf(feed.atom))).text()).match(/<entry>/g)).toHaveLength(1);
      const listed = async (key: string) => Feeds.parse(await (await ask(t.one, key, '/feeds')).json()).data;
      expect((await listed('shop-key')).map(({ id }) => id)).toContain(feed.id);
      expect((await listed('shop-key')).map(({ id }) => id)).not.toContain(all.id);
      expect(await listed('flood-key')).toEqual([]);
      expect((await ask(t.one, 'reader-key', '/feeds', 'POST', { label: 'mine' })).status).toBe(403);
      expect((await ask(t.one, 'flood-key', `/feeds/${feed.id}`, 'DELETE')).status).toBe(404);
      expect((await ask(t.one, 'shop-key', `/shares/${feed.id}`, 'DELETE')).status).toBe(404);
      const [picture] = (await atomOf(t.one, feed.atom)).entries.map(({ enclosure }) => enclosure?.href ?? '');
      const last = t.apps.at(-1) ?? t.one;
      expect((await last.call(targetOf(picture ?? ''))).status).toBe(200);
      expect((await ask(t.one, 'root-key', `/feeds/${feed.id}`, 'DELETE')).status).toBe(200);
      for (const link of [feed.atom, feed.json, feed.url, picture ?? '']) {
        expect((await last.call(targetOf(link))).status, link).toBe(404);
      }
    });

    it('refuses links without a signature or with another one, and bodies that name none or several sources', async () => {
      const t = await tenants();
      const feed = await make(t.one, 'shop-key', { label: 'x' });
      const statusOf = async (path: string) => (await t.one.call(path)).status;
      const target = targetOf(feed.atom);
      expect(await statusOf(`/feeds/${feed.id}.atom`)).toBe(403);
      expect(await statusOf(target.replace(/.$/, (last) => (last === '0' ? '1' : '0')))).toBe(403);
      expect(await statusOf(target.replace('?', '?cursor=x&'))).toBe(403);
      expect(await statusOf(target.replace('.atom', '.json'))).toBe(403);
      for (const [body, said] of [
        [{}, 'must have one of watch, label, scan, search'],
        [{ label: 'a', watch: 1 }, 'must have one of watch, label, scan, search'],
        [{ search: {} }, 'search: must have at least one condition'],
        [{ search: { status: 'bad' } }, 'search.status: must be an HTTP status'],
        [{ search: { colour: 'red' } }, 'colour'],
        [{ watch: 'one' }, 'watch: must be the id of a watch'],
      ] as const) {
        const refused = await ask(t.one, 'shop-key', '/feeds', 'POST', body);
        expect(refused.status, said).toBe(400);
        expect((await failureOf(refused)).error).toContain(said);
      }
      for (const body of [{ watch: 7 }, { scan: 'b1a1a1a1-1111-4111-8111-a1a1a1a1a1a1' }]) {
        expect((await ask(t.one, 'shop-key', '/feeds', 'POST', body)).status).toBe(404);
      }
    });
  });
});
