import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { SharedLinkSchema } from '../../src/capture/finding/shared-link.ts';
import { signedTarget } from '../../src/capture/finding/signed-link.ts';
import type { Result } from '../../src/capture/result/result.ts';
import { putCapture } from '../storage/put-capture.ts';
import { EVIDENCE } from '../storage/result-of.ts';
import { type RunningApp, serve } from '../support/serve.ts';
import { NO_BROWSER } from '../support/service.ts';
import { failureOf, targetOf } from './answers.ts';
import { resultOf } from './stored-capture.ts';
import {
  ask,
  describeWithTenantsOfEachDatabase,
  READER,
  ROOT,
  TENANTS,
  type TenantsOf,
  tenantsForSuite,
} from './tenants.ts';

const KEYS = [...TENANTS, ROOT, READER];
const SIGNING_KEY = 'a-signing-key-of-at-least-32-characters';
const KEYED = { apiKey: KEYS.map(({ key }) => key), namedKeys: KEYS, signingKey: [SIGNING_KEY], maxShareDays: 30 };
const DAY_MS = 86_400_000;

const Link = z.object({ data: SharedLinkSchema });
const Links = z.object({ data: z.array(SharedLinkSchema) });

const HOSTILE = '<script>alert(1)</script>"\'><img src=x onerror=alert(2)>';

const pngOf = (background: string) =>
  sharp({ create: { width: 40, height: 30, channels: 3, background } })
    .png()
    .toBuffer();

describeWithTenantsOfEachDatabase((start) => {
  const tenants = tenantsForSuite(() => start(NO_BROWSER, KEYED));

  async function keep({ service }: TenantsOf, id: number, wanted: Partial<Result> = {}, colour = 'red') {
    const artifacts = { store: await service.artifacts.id(), kinds: ['image', 'html', 'text'] as const };
    const result = resultOf(id, { artifacts, api_key_name: 'shop', ...wanted });
    const files = { image: await pngOf(colour), html: `<p>${id}</p>`, text: `text of ${id}` };
    await putCapture(service.artifacts, result, files);
    await service.results.insert({ ...result, evidence: EVIDENCE });
    return files;
  }

  const share = async (app: RunningApp, key: string, id: number, body: unknown = {}) =>
    ask(app, key, `/screenshot/${id}/share`, 'POST', body);
  const shared = async (app: RunningApp, key: string, id: number, body: unknown = {}) => {
    const response = await share(app, key, id, body);
    expect(response.status).toBe(200);
    return Link.parse(await response.json()).data;
  };

  describe('POST /screenshot/:id/share', () => {
    it('makes a link to a page that needs no key, which every node shows with its image until it expires', async () => {
      const t = await tenants();
      const { image } = await keep(t, 11, {
        title: HOSTILE,
        url: 'https://shop.example/lamp?a=1&b=2',
        host: 'shop.example',
      });
      await keep(t, 12, { title: 'The other capture' });
      const link = await shared(t.one, 'shop-key', 11);
      expect(link).toMatchObject({ capture: 11, with: null, view: 'page', api_key_name: 'shop' });
      expect(Date.parse(link.expires_at) - Date.parse(link.created_at)).toBeGreaterThan(7 * DAY_MS - 2000);
      for (const app of t.apps) {
        const page = await app.call(targetOf(link.link));
        expect(page.status).toBe(200);
        expect(page.headers.get('Content-Type')).toBe('text/html; charset=utf-8');
        expect(page.headers.get('Cache-Control')).toMatch(/^public, max-age=60\d{4}$/);
        expect(page.headers.get('X-Robots-Tag')).toBe('noindex, nofollow');
        const policy = page.headers.get('Content-Security-Policy') ?? '';
        expect(policy).toContain("sandbox; default-src 'none'; img-src 'self'");
        expect(policy).not.toContain('unsafe');
        const html = await page.text();
        expect(html).not.toMatch(/<script|onerror=alert\(2\)>/);
        expect(html).toContain('https://shop.example/lamp?a=1&amp;b=2');
        expect(html).toContain('2027-01-15T08:00:11.000Z');
        expect(html).not.toContain('The other capture');
        const [, source = ''] = /<img src="([^"]+)"/.exec(html) ?? [];
        const shown = await app.call(source.replaceAll('&amp;', '&'));
        expect(shown.headers.get('Content-Type')).toBe('image/png');
        expect(shown.headers.get('Cache-Control')).toMatch(/^public, max-age=\d+$/);
        expect(Buffer.from(await shown.arrayBuffer()).equals(image)).toBe(true);
      }
    });

    it('makes a link to one file alone', async () => {
      const t = await tenants();
      await keep(t, 21);
      const image = await shared(t.one, 'shop-key', 21, { view: 'image' });
      expect((await t.one.call(targetOf(image.link))).headers.get('Content-Type')).toBe('image/png');
      const snapshot = await shared(t.one, 'shop-key', 21, { view: 'html' });
      const html = await t.one.call(targetOf(snapshot.link));
      expect(html.headers.get('Content-Security-Policy')).toMatch(/^sandbox; default-src 'none'/);
      expect(await html.text()).toBe('<p>21</p>');
      const part = signedTarget(`/shared/${snapshot.id}/image`, Date.parse(snapshot.expires_at) / 1000, SIGNING_KEY);
      expect((await t.one.call(part)).status).toBe(404);
      const missing = await share(t.one, 'shop-key', 21, { view: 'markdown' });
      expect(missing.status).toBe(400);
      expect((await failureOf(missing)).error).toContain(
        'must be one of what the capture has: page, image, html, text',
      );
    });

    it('shares a comparison of two captures', async () => {
      const t = await tenants();
      await keep(t, 31, { width: 40, height: 30 }, 'white');
      await keep(t, 32, { width: 40, height: 30 }, 'black');
      const link = await shared(t.one, 'shop-key', 31, { with: 32 });
      expect(link).toMatchObject({ capture: 31, with: 32, view: 'page' });
      for (const app of t.apps) {
        const html = await (await app.call(targetOf(link.link))).text();
        const sources = [...html.matchAll(/<img src="([^"]+)"/g)].map(([, source = '']) =>
          source.replaceAll('&amp;', '&'),
        );
        expect(sources).toHaveLength(3);
        for (const source of sources) {
          const shown = await app.call(source);
          expect(shown.status).toBe(200);
          expect((await sharp(Buffer.from(await shown.arrayBuffer())).metadata()).format).toBe('png');
        }
      }
    });

    it('ends with the capture, and when it is revoked', async () => {
      const t = await tenants();
      await keep(t, 41);
      const [first, second] = [await shared(t.one, 'shop-key', 41), await shared(t.one, 'shop-key', 41)];
      const last = t.apps.at(-1) ?? t.one;
      const listed = async (key: string, query = '?capture=41') =>
        Links.parse(await (await ask(last, key, `/shares${query}`)).json()).data.map(({ id }) => id);
      expect(await listed('shop-key')).toEqual([second.id, first.id]);
      const page = await ask(last, 'shop-key', '/shares?capture=41&limit=1');
      expect(page.headers.get('Link')).toContain('rel="next"');
      expect(await listed('shop-key', `?capture=41&cursor=${second.id}`)).toEqual([first.id]);
      expect((await ask(last, 'shop-key', `/shares/${first.id}`, 'DELETE')).status).toBe(200);
      for (const app of t.apps) expect((await app.call(targetOf(first.link))).status).toBe(404);
      expect(await listed('shop-key')).toEqual([second.id]);
      expect((await ask(t.one, 'shop-key', '/screenshot/41', 'DELETE')).status).toBe(200);
      for (const app of t.apps) {
        const ended = await app.call(targetOf(second.link));
        expect(ended.status).toBe(404);
        expect(ended.headers.get('Cache-Control')).toBe('no-store');
      }
      expect(await listed('root-key')).toEqual([]);
    });

    it('hides the captures and links of other keys', async () => {
      const t = await tenants();
      await keep(t, 51);
      await keep(t, 52, { api_key_name: 'flood' });
      expect((await share(t.one, 'flood-key', 51)).status).toBe(404);
      expect((await share(t.one, 'flood-key', 52, { with: 51 })).status).toBe(404);
      expect((await share(t.one, 'reader-key', 51)).status).toBe(403);
      const link = await shared(t.one, 'shop-key', 51);
      expect(Links.parse(await (await ask(t.one, 'flood-key', '/shares')).json()).data).toEqual([]);
      expect((await ask(t.one, 'flood-key', `/shares/${link.id}`, 'DELETE')).status).toBe(404);
      expect((await t.one.call(targetOf(link.link))).status).toBe(200);
      expect((await ask(t.one, 'flood-key', targetOf(link.link))).status).toBe(200);
      expect((await ask(t.one, 'root-key', `/shares/${link.id}`, 'DELETE')).status).toBe(200);
    });

    it('shows what its maker may see now', async () => {
      const t = await tenants();
      await keep(t, 53);
      await keep(t, 54, { api_key_name: 'root' });
      const links = [await shared(t.one, 'root-key', 53), await shared(t.one, 'root-key', 54)];
      const statuses = (app: RunningApp) =>
        Promise.all(links.map(async (link) => (await app.call(targetOf(link.link))).status));
      for (const rootNow of [[{ ...ROOT, scope: 'capture' as const }], []]) {
        const app = await serve(t.service, { ...KEYED, namedKeys: [...TENANTS, ...rootNow], isolateKeys: true });
        try {
          expect(await statuses(app)).toEqual(rootNow.length === 0 ? [404, 404] : [404, 200]);
          const listed = await ask(app, rootNow.length === 0 ? 'flood-key' : 'root-key', '/shares');
          const ids = Links.parse(await listed.json()).data.map(({ id }) => id);
          expect(ids).toEqual(rootNow.length === 0 ? [] : [links[1]?.id]);
        } finally {
          await app.close();
        }
      }
      expect(await statuses(t.one)).toEqual([200, 200]);
    });

    it('refuses links without a signature, with another one, and after they have expired', async () => {
      const t = await tenants();
      await keep(t, 61);
      const link = await shared(t.one, 'shop-key', 61, { expires: '1m' });
      const target = targetOf(link.link);
      const statusOf = async (path: string) => (await t.one.call(path)).status;
      expect(await statusOf(`/shared/${link.id}`)).toBe(403);
      expect(await statusOf(target.replace(/.$/, (last) => (last === '0' ? '1' : '0')))).toBe(403);
      expect(await statusOf(target.replace('/shared/', '/shared/x'))).toBe(403);
      expect(await statusOf(signedTarget(`/shared/${link.id}`, 1000, SIGNING_KEY))).toBe(403);
      expect(await statusOf(signedTarget('/shared/unknown', Date.now() / 1000 + 60, SIGNING_KEY))).toBe(403);
      const far = Math.floor(Date.now() / 1000) + 60;
      expect(await statusOf(signedTarget('/shared/unknown', far, SIGNING_KEY))).toBe(404);
      for (const expires of ['31d', '10s', 'soon', 7]) {
        expect((await share(t.one, 'shop-key', 61, { expires })).status, String(expires)).toBe(400);
      }
    });
  });
});
