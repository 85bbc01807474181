import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { signedTarget } from '../../src/capture/finding/signed-link.ts';
import { captureDirectory, RECORD_FILE } from '../../src/storage/files/layout.ts';
import { serviceForSuite, siteForSuite } from '../support/for-suite.ts';
import { serve } from '../support/serve.ts';
import { failureOf, idsOf, nextPage } from './answers.ts';
import { type Block, subscribe } from './event-subscriber.ts';
import { keepCapture } from './stored-capture.ts';

const KEYS = [
  { name: 'shop', key: 'shop-key', rate: null, scope: 'capture' },
  { name: 'news', key: 'news-key', rate: null, scope: 'capture' },
  { name: 'reader', key: 'reader-key', rate: null, scope: 'read' },
  { name: 'root', key: 'root-key', rate: null, scope: 'admin' },
] as const;
const PLAIN = 'plain-key';
const SIGNING_KEY = 'a-signing-key-of-at-least-32-characters';
const KEYED = { apiKey: [PLAIN, ...KEYS.map(({ key }) => key)], namedKeys: KEYS, signingKey: [SIGNING_KEY] };

const Captured = z.object({
  data: z.object({ id: z.number(), cached: z.boolean(), api_key_name: z.string().optional() }),
});
const Batch = z.array(z.object({ result: z.object({ id: z.number() }) }));
const Job = z.object({ data: z.object({ id: z.string(), state: z.string(), results: z.unknown().optional() }) });
const AboutCapture = z.object({ id: z.number().optional(), batch: z.string().nullish() });

const site = siteForSuite();
const app = serviceForSuite({}, { ...KEYED, isolateKeys: true });

const ask = (key: string, path: string, init: RequestInit = {}) =>
  app.call(path, { ...init, headers: { 'X-API-Key': key, ...init.headers } });
const post = (key: string, path: string, body: unknown, headers: Record<string, string> = {}) =>
  app.post(path, body, { headers: { 'X-API-Key': key, ...headers } });

async function shoot(key: string, path: string, options: Readonly<Record<string, unknown>> = {}) {
  const response = await post(key, '/screenshot', { url: site.url(path), ...options });
  expect(response.status).toBe(200);
  return Captured.parse(await response.json()).data;
}

const statusesOf = async (key: string, paths: readonly string[]) =>
  Promise.all(paths.map(async (path) => (await ask(key, path)).status));

function idsIn(blocks: readonly Block[]): readonly (number | undefined)[] {
  return blocks.map(({ data }) => AboutCapture.parse(data).id);
}

describe('with --isolate-keys, a named key', () => {
  it('reads no capture of another key, in any form', async () => {
    const hash = { evidence: ['perception_hash'] };
    const own = await shoot('shop-key', '/short?forms', hash);
    const others = await shoot('news-key', '/short?forms', hash);
    expect(own.api_key_name).toBe('shop');
    const paths = (id: number) => [
      `/results/${id}`,
      `/results/similar/${id}`,
      `/screenshot/${id}`,
      `/screenshot/${id}?view=metadata`,
      `/screenshot/${id}?view=html`,
      `/screenshot/${id}?width=100`,
    ];
    expect(await statusesOf('shop-key', paths(own.id))).toEqual([200, 200, 200, 200, 200, 200]);
    expect(await statusesOf('shop-key', paths(others.id))).toEqual([404, 404, 404, 404, 404, 404]);
    expect(await statusesOf('reader-key', paths(own.id))).toEqual([404, 404, 404, 404, 404, 404]);
    for (const key of ['root-key', PLAIN]) {
      expect(await statusesOf(key, paths(own.id)), key).toEqual([200, 200, 200, 200, 200, 200]);
    }
    const missing = await failureOf(await ask('shop-key', `/screenshot/${others.id}`));
    expect(missing).toMatchObject({ code: 'not_found', error: `There is no screenshot with the id ${others.id}.` });
  });

  it('reads nothing of a capture of another key, so that it takes no longer than one that does not exist', async () => {
    const hash = { evidence: ['perception_hash'] };
    const others = await shoot('news-key', '/short?unread', hash);
    const own = await shoot('shop-key', '/short?unread', hash);
    await writeFile(join(captureDirectory(join(app.directory, 'data'), others.id), RECORD_FILE), '{');
    const paths = ['', '?view=html', '?width=100', '?view=metadata'].map((query) => `/screenshot/${others.id}${query}`);
    const compared = [`/compare?a=${own.id}&b=${others.id}`, `/compare?a=${others.id}&b=${own.id}`];
    const read = [...paths, ...compared, `/results/${others.id}`, `/results/similar/${others.id}`];
    expect(await statusesOf('shop-key', read)).toEqual(read.map(() => 404));
    expect((await ask('shop-key', `/screenshot/${others.id}`, { method: 'DELETE' })).status).toBe(404);
    expect((await ask('root-key', `/screenshot/${others.id}`)).status).toBe(500);
    expect((await ask('root-key', `/screenshot/${others.id}`, { method: 'DELETE' })).status).toBe(200);
  });

  it('lists its captures beside one whose record is damaged, exports that one, and removes it', async () => {
    const [first, second] = [await shoot('shop-key', '/short?whole'), await shoot('shop-key', '/short?damaged')];
    await writeFile(join(captureDirectory(join(app.directory, 'data'), second.id), RECORD_FILE), '{');
    for (const key of ['shop-key', 'root-key']) {
      const listed = await idsOf(await ask(key, '/screenshots'));
      expect([listed.includes(first.id), listed.includes(second.id)]).toEqual([true, false]);
      for (const path of ['/results', '/results/export']) {
        const answer = await ask(key, path);
        expect([answer.status, (await answer.text()).includes(String(second.id))]).toEqual([200, true]);
      }
      const image = await ask(key, `/screenshot/${second.id}`);
      expect([image.status, (await failureOf(image)).code]).toEqual([500, 'artifact_damaged']);
    }
    expect((await ask('shop-key', `/screenshot/${second.id}`, { method: 'DELETE' })).status).toBe(200);
    expect((await ask('shop-key', `/screenshot/${second.id}`)).status).toBe(404);
  });

  it('reads the files of no more captures than are missing, when the record of a listed one is damaged', async () => {
    for (const path of ['/short?4', '/short?3', '/short?2']) await shoot('shop-key', path);
    const [shown, damaged] = [await shoot('shop-key', '/short?shown'), await shoot('shop-key', '/short?damaged')];
    await writeFile(join(captureDirectory(join(app.directory, 'data'), damaged.id), RECORD_FILE), '{');
    const info = vi.spyOn(app.service.artifacts, 'info');
    try {
      expect(await idsOf(await ask('shop-key', '/screenshots?limit=1'))).toEqual([shown.id]);
      // Two for a page of one, whether there are more; and one in place of the damaged one.
      expect(info).toHaveBeenCalledTimes(3);
    } finally {
      info.mockRestore();
    }
  });

  it('does not learn from If-None-Match or a range that a capture of another key exists', async () => {
    const { id } = await shoot('news-key', '/short?etag');
    const etag = (await ask('news-key', `/screenshot/${id}`)).headers.get('ETag') ?? '';
    for (const headers of [{ 'If-None-Match': etag }, { Range: 'bytes=0-1' }]) {
      expect((await ask('shop-key', `/screenshot/${id}`, { headers })).status).toBe(404);
      expect((await ask('shop-key', `/screenshot/${id}?width=50`, { headers })).status).toBe(404);
    }
  });

  describe('among stored captures of several keys', () => {
    const own = [13, 10, 7, 4, 1];
    const hash = {
      host: 'many.example',
      title: 'listed',
      perception_hash: '7c1e3fa05b92d846',
    } as const;

    beforeAll(async () => {
      const names = [undefined, 'shop', 'news'];
      for (let id = 0; id < 15; id += 1) {
        const { result } = await keepCapture(app.service, id, { ...hash, api_key_name: names[id % 3] });
        await app.service.results.insert(result);
      }
    });

    it.each(['/results', '/screenshots', '/results/by-host?host=many', '/results?text=listed&outcome=stored'])(
      'lists in %s its own alone, in pages of every size',
      async (path) => {
        const list = `${path}${path.includes('?') ? '&' : '?'}`;
        for (const limit of [1, 2, 5]) {
          const paged: number[] = [];
          for (let next: string | undefined = `${list}limit=${limit}`; next !== undefined && paged.length < 5; ) {
            const page = await ask('shop-key', next);
            paged.push(...(await idsOf(page)));
            next = nextPage(page);
          }
          expect(paged.slice(0, 5)).toEqual(own);
        }
        expect(await idsOf(await ask('reader-key', path))).toEqual([]);
        expect(await idsOf(await ask('root-key', path))).toEqual(expect.arrayContaining([14, 13, 12, 11]));
      },
    );

    it('compares its own with its own alone', async () => {
      expect(await idsOf(await ask('shop-key', '/results/similar/13?limit=100'))).toEqual([10, 7, 4, 1]);
      expect(await idsOf(await ask('shop-key', '/results/similar/13?limit=2'))).toEqual([10, 7]);
      expect((await ask('shop-key', '/results/similar/12')).status).toBe(404);
    });

    it('exports its own alone', async () => {
      const lines = await (await ask('shop-key', '/results/export?host=many')).text();
      const ids = lines
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line).id);
      expect(ids).toEqual(own);
      const csv = await (await ask('shop-key', '/results/export?format=csv&host=many')).text();
      expect(csv.trim().split('\r\n')).toHaveLength(own.length + 1);
    });
  });

  it('removes its own captures alone, without the scope admin', async () => {
    const own = await shoot('shop-key', '/short?remove');
    const others = await shoot('news-key', '/short?remove');
    const remove = async (key: string, id: number) =>
      (await ask(key, `/screenshot/${id}`, { method: 'DELETE' })).status;
    expect(await remove('shop-key', others.id)).toBe(404);
    expect(await remove('reader-key', own.id)).toBe(403);
    expect(await remove('shop-key', own.id)).toBe(200);
    expect(await statusesOf('news-key', [`/results/${others.id}`, `/screenshot/${others.id}`])).toEqual([200, 200]);
    expect(await remove('root-key', others.id)).toBe(200);
    expect((await ask('shop-key', '/limits', { method: 'PATCH', body: '{}' })).status).toBe(403);
  });

  it('gets an earlier capture in place of a new one only when that capture is its own', async () => {
    const cached = { cacheMaxAgeMs: 60_000 };
    const others = await shoot('news-key', '/short?reuse');
    const own = await shoot('shop-key', '/short?reuse', cached);
    expect(own).toMatchObject({ cached: false, api_key_name: 'shop' });
    expect(await shoot('shop-key', '/short?reuse', cached)).toMatchObject({ id: own.id, cached: true });
    expect(await shoot('news-key', '/short?reuse', cached)).toMatchObject({ id: others.id, cached: true });
    expect(await shoot('root-key', '/short?reuse', cached)).toMatchObject({ id: own.id, cached: true });
    const batch = await post('shop-key', '/batch', { requests: [{ url: site.url('/short?reuse'), ...cached }] });
    expect(Batch.parse(await batch.json())[0]?.result.id).toBe(own.id);
  });

  it('shares a capture under way with equal requests of its own alone', async () => {
    const shared = { cacheMaxAgeMs: 60_000 };
    const path = '/slow?ms=500&isolated';
    const [first, second, other, admin] = await Promise.all([
      shoot('shop-key', path, shared),
      shoot('shop-key', path, shared),
      shoot('news-key', path, shared),
      shoot('root-key', path, shared),
    ]);
    expect(second.id).toBe(first.id);
    expect(new Set([first.id, other.id, admin.id]).size).toBe(3);
    expect([first, other, admin].map(({ api_key_name: name }) => name)).toEqual(['shop', 'news', 'root']);
  });

  it('receives the events of its own captures and batches alone, live and replayed', async () => {
    const headers = (key: string) => ({ 'X-API-Key': key });
    const live = await subscribe(`${app.baseUrl}/events?type=capture.*,batch.*`, headers('shop-key'));
    const admins = await subscribe(`${app.baseUrl}/events?type=capture.*`, headers('root-key'));
    try {
      const start = live.blocks[0]?.id ?? '';
      const others = await shoot('news-key', '/short?events');
      await post('news-key', '/batch', { requests: [{ url: site.url('/short?events') }] });
      await shoot(PLAIN, '/short?events');
      const own = await shoot('shop-key', '/short?events');
      const batch = await post('shop-key', '/batch', { requests: [{ url: site.url('/short?events') }] });
      const [inBatch] = Batch.parse(await batch.json());
      const events = await live.take(9);
      const expected = [own.id, own.id, own.id, undefined, ...Array(3).fill(inBatch?.result.id), undefined, undefined];
      expect(idsIn(events)).toEqual(expected);
      const replayed = await subscribe(
        `${app.baseUrl}/events?type=capture.*,batch.*&lastEventId=${start}`,
        headers('shop-key'),
      );
      expect(idsIn(await replayed.take(9))).toEqual(expected);
      await replayed.close();
      expect(idsIn(await admins.take(3))).toEqual([others.id, others.id, others.id]);
    } finally {
      await live.close();
      await admins.close();
    }
  });

  it('sees its own captures under way alone', async () => {
    const names = z.object({ data: z.array(z.object({ url: z.string(), api_key_name: z.string().optional() })) });
    const begun = await subscribe(`${app.baseUrl}/events?type=capture.started`, { 'X-API-Key': 'root-key' });
    const gone = new AbortController();
    const shots = ['shop-key', 'news-key'].map((key) =>
      ask(key, '/screenshot', {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ url: site.url('/never') }),
        signal: gone.signal,
      }),
    );
    await begun.take(2);
    const under = async (key: string) =>
      names.parse(await (await ask(key, '/captures')).json()).data.map(({ api_key_name: name }) => name);
    expect([await under('shop-key'), await under('reader-key')]).toEqual([['shop'], []]);
    expect((await under(PLAIN)).toSorted()).toEqual(['news', 'shop']);
    gone.abort();
    await Promise.allSettled(shots);
    await begun.close();
  });

  it('keeps its jobs, and the captures that they made, from other keys', async () => {
    await shoot('news-key', '/short?job');
    const request = { url: site.url('/short?job'), cacheMaxAgeMs: 60_000 };
    const asked = await post('shop-key', '/screenshot', request, { Prefer: 'respond-async' });
    const { id } = Job.parse(await asked.json()).data;
    const ended = await subscribe(`${app.baseUrl}/events?type=capture.stored,capture.reused&lastEventId=0`, {
      'X-API-Key': 'shop-key',
    });
    for (let isMade = false; !isMade; ) {
      const { data } = await ended.event();
      isMade = JSON.stringify(data).includes('/short?job');
      if (isMade) expect(data).toMatchObject({ type: 'capture.stored', api_key_name: 'shop' });
    }
    await ended.close();
    expect(await statusesOf('news-key', [`/jobs/${id}`])).toEqual([404]);
    expect(await statusesOf('shop-key', [`/jobs/${id}`])).toEqual([200]);
  });

  it('gets an answer of its own when another key has used the same Idempotency-Key', async () => {
    const once = { 'Idempotency-Key': 'the same' };
    const body = { url: site.url('/short?once') };
    const idOf = async (key: string) =>
      Captured.parse(await (await post(key, '/screenshot', body, once)).json()).data.id;
    const [own, others] = [await idOf('shop-key'), await idOf('news-key')];
    expect(others).not.toBe(own);
    expect(await idOf('shop-key')).toBe(own);
  });

  it('sees only its own captures when it is logged in to the web interface', async () => {
    const others = await shoot('news-key', '/short?session');
    const login = await app.post('/session', { key: 'shop-key' });
    const [cookie = ''] = login.headers.getSetCookie();
    const headers = { Cookie: cookie.split(';', 1).join(''), Origin: app.baseUrl };
    expect((await app.call(`/results/${others.id}`, { headers })).status).toBe(404);
    expect(await idsOf(await app.call('/results', { headers }))).not.toContain(others.id);
  });
});

describe('with --isolate-keys, a signed link', () => {
  it('gets earlier captures of signed links and of keys without a name, and none of a named key', async () => {
    const path = `/screenshot?url=${encodeURIComponent(site.url('/short?link'))}&cacheMaxAgeMs=60000`;
    const link = signedTarget(path, Math.floor(Date.now() / 1000) + 3600, SIGNING_KEY);
    const idOf = async () => {
      const response = await app.call(link);
      expect(response.status).toBe(200);
      await response.arrayBuffer();
      return Number(response.headers.get('X-Capture-Id'));
    };
    const named = await shoot('shop-key', '/short?link');
    const first = await idOf();
    expect(first).not.toBe(named.id);
    expect(await idOf()).toBe(first);
    expect(await statusesOf('shop-key', [`/results/${first}`])).toEqual([404]);
    const plain = await shoot(PLAIN, '/short?link');
    expect(await idOf()).toBe(plain.id);
  });
});

describe('without --isolate-keys, a named key', () => {
  it('reads, lists and reuses the captures of every key, and does not remove them', async () => {
    const shared = await serve(app.service, KEYED);
    try {
      const own = await shoot('shop-key', '/short?shared');
      const headers = { 'X-API-Key': 'news-key' };
      expect((await shared.call(`/results/${own.id}`, { headers })).status).toBe(200);
      expect(await idsOf(await shared.call('/results', { headers }))).toContain(own.id);
      const request = { url: site.url('/short?shared'), cacheMaxAgeMs: 60_000 };
      const answer = await shared.post('/screenshot', request, { headers });
      expect(Captured.parse(await answer.json()).data).toEqual({ id: own.id, cached: true, api_key_name: 'shop' });
      expect((await shared.call(`/screenshot/${own.id}`, { headers, method: 'DELETE' })).status).toBe(403);
    } finally {
      await shared.close();
    }
  });
});
