import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { serviceForSuite, siteForSuite } from '../support/for-suite.ts';
import type { RunningApp } from '../support/serve.ts';
import { NO_BROWSER } from '../support/service.ts';
import { failureOf, idsOf } from './answers.ts';
import { subscribe } from './event-subscriber.ts';
import { keepCapture } from './stored-capture.ts';
import {
  ask,
  describeWithTenants,
  describeWithTenantsOfEachDatabase,
  keepForShop,
  ROOT,
  TENANTS,
  tenantsForSuite,
} from './tenants.ts';

const KEYS = [...TENANTS, ROOT];
const KEYED = { apiKey: KEYS.map(({ key }) => key), namedKeys: KEYS };

const Marked = z.object({
  data: z.object({ changed: z.number(), failed: z.array(z.unknown()), next: z.string().nullable() }),
});
const One = z.object({
  data: z.object({
    labels: z.array(z.string()),
    note: z.string(),
    hold: z.object({ at: z.string(), by: z.string() }).nullable(),
  }),
});

const patch = (app: RunningApp, key: string, path: string, body: unknown) => ask(app, key, path, 'PATCH', body);
const labelled = async (app: RunningApp, key: string, label: string) =>
  (await idsOf(await ask(app, key, `/results?label=${encodeURIComponent(label)}`))).toSorted((a, b) => a - b);

describeWithTenantsOfEachDatabase((start, apiNodes) => {
  const tenants = tenantsForSuite(() => start(NO_BROWSER, KEYED));

  describe('PATCH /screenshot/:id', () => {
    it('changes labels and note, which every node answers and lists find', async () => {
      const t = await tenants();
      const { apps, one } = t;
      await keepForShop(t, 11);
      const changed = await patch(one, 'shop-key', '/screenshot/11', {
        labels: [' legal ', 'Fall 17', 'legal'],
        note: 'für Ana',
      });
      expect(changed.status).toBe(200);
      expect(One.parse(await changed.json()).data).toEqual({
        labels: ['legal', 'Fall 17'],
        note: 'für Ana',
        hold: null,
      });
      for (const app of apps) {
        expect(await labelled(app, 'shop-key', 'legal')).toEqual([11]);
        expect(await labelled(app, 'shop-key', 'Fall 17,legal')).toEqual([11]);
        expect(await labelled(app, 'shop-key', 'legal,other')).toEqual([]);
        expect(await labelled(app, 'shop-key', 'Legal')).toEqual([]);
      }
      await patch(one, 'shop-key', '/screenshot/11', { addLabels: ['other'], removeLabels: ['legal'] });
      expect(await labelled(one, 'shop-key', 'legal')).toEqual([]);
      const read = await ask(apps.at(-1) ?? one, 'shop-key', '/results/11');
      expect(One.parse(await read.json()).data).toEqual({ labels: ['Fall 17', 'other'], note: 'für Ana', hold: null });
    });

    it('finds no label of another key, and changes none', async () => {
      const t = await tenants();
      await keepForShop(t, 21, { labels: ['secret'], api_key_name: 'flood' });
      await keepForShop(t, 22, { labels: ['secret'] });
      expect(await labelled(t.one, 'shop-key', 'secret')).toEqual([22]);
      expect(await labelled(t.one, 'root-key', 'secret')).toEqual([21, 22]);
      expect((await patch(t.one, 'shop-key', '/screenshot/21', { addLabels: ['mine'] })).status).toBe(404);
      const all = await patch(t.one, 'shop-key', '/results?label=secret', { addLabels: ['mine'] });
      expect(Marked.parse(await all.json()).data).toEqual({ changed: 1, failed: [], next: null });
      expect(await labelled(t.one, 'root-key', 'mine')).toEqual([22]);
    });

    it('leaves every change of several at once, also made by different nodes', async () => {
      const t = await tenants();
      await keepForShop(t, 31);
      const names = Array.from({ length: 16 }, (_, at) => `together-${at}`);
      const made = names.map((name, at) =>
        patch(t.apps[at % apiNodes] ?? t.one, 'shop-key', '/screenshot/31', { addLabels: [name] }),
      );
      expect(new Set((await Promise.all(made)).map(({ status }) => status))).toEqual(new Set([200]));
      const { labels } = One.parse(await (await ask(t.one, 'shop-key', '/results/31')).json()).data;
      expect([...labels].toSorted()).toEqual(names.toSorted());
      const kept = await t.services[0]?.artifacts.record(31);
      expect([...(kept?.labels ?? [])].toSorted()).toEqual(names.toSorted());
    });

    it('refuses bad labels, more than 20, and a body without a change', async () => {
      const t = await tenants();
      await keepForShop(t, 41, { labels: Array.from({ length: 19 }, (_, at) => `l${at}`) });
      for (const bad of [
        { labels: ['a,b'] },
        { addLabels: [''] },
        { labels: ['x'.repeat(65)] },
        { labels: ['\ud800'] },
        {},
        { note: 7 },
        { labels: [], addLabels: ['a'] },
      ]) {
        const refused = await patch(t.one, 'shop-key', '/screenshot/41', bad);
        expect(refused.status, JSON.stringify(bad)).toBe(400);
      }
      const refused = await failureOf(await patch(t.one, 'shop-key', '/screenshot/41', { addLabels: ['a', 'b'] }));
      expect(refused).toMatchObject({ code: 'invalid_request', error: expect.stringContaining('at most 20 labels') });
      expect((await patch(t.one, 'shop-key', '/screenshot/999', { note: 'x' })).status).toBe(404);
    });
  });

  describe('a hold', () => {
    it('is set and lifted by administrators alone, and refuses the removal until then', async () => {
      const t = await tenants();
      await keepForShop(t, 51);
      const refused = await patch(t.one, 'shop-key', '/screenshot/51', { hold: true });
      expect(refused.status).toBe(403);
      const events = await subscribe(`${t.apps.at(-1)?.baseUrl}/events?type=capture.held,capture.released`, {
        'X-API-Key': 'shop-key',
      });
      const others = await subscribe(`${t.one.baseUrl}/events?type=capture.*`, { 'X-API-Key': 'flood-key' });
      const held = One.parse(await (await patch(t.one, 'root-key', '/screenshot/51', { hold: true })).json()).data;
      expect(held.hold).toEqual({ at: expect.any(String), by: 'root' });
      for (const app of t.apps) {
        const removal = await ask(app, 'shop-key', '/screenshot/51', 'DELETE');
        expect(removal.status).toBe(409);
        expect((await failureOf(removal)).code).toBe('capture_held');
        expect((await ask(app, 'shop-key', '/screenshot/51')).status).toBe(200);
        expect((await ask(app, 'shop-key', '/results/51')).status).toBe(200);
      }
      expect(await idsOf(await ask(t.one, 'shop-key', '/results?held=true'))).toEqual([51]);
      expect((await patch(t.one, 'root-key', '/screenshot/51', { hold: false })).status).toBe(200);
      const told = await events.take(2);
      expect(told.map(({ data }) => data)).toMatchObject([
        { type: 'capture.held', id: 51, by: 'root', api_key_name: 'shop' },
        { type: 'capture.released', id: 51, by: 'root', result: { hold: null } },
      ]);
      expect(others.blocks.filter(({ event }) => event !== undefined)).toEqual([]);
      await Promise.all([events.close(), others.close()]);
      expect((await ask(t.one, 'shop-key', '/screenshot/51', 'DELETE')).status).toBe(200);
      expect((await ask(t.one, 'shop-key', '/screenshot/51')).status).toBe(404);
    });
  });

  describe('GET /labels', () => {
    it('suggests labels that captures of the key still have, by any part of them', async () => {
      const t = await tenants();
      await keepForShop(t, 71);
      await keepForShop(t, 72, { api_key_name: 'flood' });
      await patch(t.one, 'shop-key', '/screenshot/71', { labels: ['Straße 7', 'Harbour', 'harvest'] });
      await patch(t.one, 'flood-key', '/screenshot/72', { labels: ['Harbour of flood'] });
      const last = t.apps.at(-1) ?? t.one;
      const suggested = async (key: string, query: string) =>
        z.object({ data: z.array(z.string()) }).parse(await (await ask(last, key, `/labels?${query}`)).json()).data;
      await expect.poll(() => suggested('shop-key', 'text=HAR')).toEqual(['Harbour', 'harvest']);
      await expect.poll(() => suggested('flood-key', 'text=har')).toEqual(['Harbour of flood']);
      expect(await suggested('shop-key', 'text=strasse')).toEqual(['Straße 7']);
      expect(await suggested('root-key', 'text=har&limit=2')).toEqual(['Harbour', 'Harbour of flood']);
      await patch(t.one, 'shop-key', '/screenshot/71', { removeLabels: ['harvest'] });
      expect(await suggested('shop-key', 'text=har')).toEqual(['Harbour']);
      await patch(t.one, 'shop-key', '/screenshot/71', { addLabels: ['harvest'] });
      if (apiNodes === 1) await expect.poll(() => suggested('shop-key', 'text=har')).toEqual(['Harbour', 'harvest']);
    });
  });

  describe('PATCH /results', () => {
    it('changes the captures that meet the conditions, up to a limit, and says where to go on', async () => {
      const t = await tenants();
      const ids = [61, 62, 63, 64, 65];
      for (const id of ids) await keepForShop(t, id, { url: 'https://many.example/', host: 'many.example' });
      const page = async (query: string) =>
        Marked.parse(await (await patch(t.one, 'shop-key', `/results?${query}`, { addLabels: ['sweep'] })).json()).data;
      const first = await page('host=many.example&limit=3');
      expect(first).toEqual({ changed: 3, failed: [], next: expect.any(String) });
      expect(await labelled(t.one, 'shop-key', 'sweep')).toEqual([63, 64, 65]);
      expect(await page(`host=many.example&limit=3&cursor=${first.next}`)).toEqual({
        changed: 2,
        failed: [],
        next: null,
      });
      expect(await labelled(t.one, 'shop-key', 'sweep')).toEqual(ids);
    });

    it('changes nothing without a condition', async () => {
      const t = await tenants();
      const refused = await patch(t.one, 'shop-key', '/results', { addLabels: ['everything'] });
      expect(refused.status).toBe(400);
      expect((await failureOf(refused)).error).toContain('needs at least one condition');
      for (const empty of ['technology=,', 'label=%20', 'text=%20', 'words=,']) {
        expect((await patch(t.one, 'shop-key', `/results?${empty}`, { addLabels: ['everything'] })).status).toBe(400);
      }
      expect(await labelled(t.one, 'root-key', 'everything')).toEqual([]);
    });
  });
});

describeWithTenants((start) => {
  const site = siteForSuite();

  it('keeps the labels of a request, whoever captures the page', async () => {
    await using tenants = await start({}, KEYED);
    const { one, apps } = tenants;
    const last = apps.at(-1) ?? one;
    const events = await subscribe(`${last.baseUrl}/events?label=scan`, { 'X-API-Key': 'shop-key' });
    const body = { url: site.url('/short'), labels: ['scan'], note: 'n' };
    const made = await ask(one, 'shop-key', '/screenshot', 'POST', body);
    expect(One.parse(await made.json()).data).toEqual({ labels: ['scan'], note: 'n', hold: null });
    const told = await events.take(3);
    expect(told.map(({ event }) => event)).toEqual(['capture.queued', 'capture.started', 'capture.stored']);
    await events.close();
    expect(await labelled(last, 'shop-key', 'scan')).toHaveLength(1);
    expect(await labelled(last, 'flood-key', 'scan')).toEqual([]);
  });
});

describe('labels of a request', () => {
  const site = siteForSuite();
  const app = serviceForSuite();
  const Captured = z.object({
    data: z.object({ id: z.number(), cached: z.boolean(), labels: z.array(z.string()), note: z.string() }),
  });
  const shoot = async (wanted: Readonly<Record<string, unknown>>) =>
    Captured.parse(await (await app.post('/screenshot', { url: site.url('/short'), ...wanted })).json()).data;

  it('are in the record, in events and in lists, and the capture is no different by them', async () => {
    const events = await subscribe(`${app.baseUrl}/events?label=scan-7`);
    const made = await shoot({ labels: ['scan-7', 'shop'], note: 'first' });
    expect(made).toMatchObject({ labels: ['scan-7', 'shop'], note: 'first' });
    const told = await events.take(3);
    expect(told.map(({ event }) => event)).toEqual(['capture.queued', 'capture.started', 'capture.stored']);
    expect(told.map(({ data }) => data)).toMatchObject(
      [1, 2, 3].map(() => ({ labels: ['scan-7', 'shop'], id: made.id })),
    );
    await events.close();
    expect(await idsOf(await app.call('/results?label=scan-7'))).toEqual([made.id]);
    const plain = await app.call(`/results/${made.id}`);
    expect(await plain.json()).toMatchObject({ data: { options: {}, options_withheld: [] } });
  });

  it('are as long as they look: letters with many marks are refused before they are composed', async () => {
    // Composed, each would take half a minute, and all of them more than the time limit of the test.
    const hostile = Array.from({ length: 10 }, () => [`a${'\u0301\u0327'.repeat(200_000)}`]);
    for (const labels of [...hostile, ['e\u0302\u0301'.repeat(65)]]) {
      const refused = await failureOf(await app.post('/screenshot', { url: site.url('/short'), labels }));
      expect(refused).toMatchObject({ code: 'invalid_request', error: expect.stringContaining('1 to 64 characters') });
    }
    expect((await shoot({ labels: [` ${'e\u0302\u0301'.repeat(64)} `] })).labels).toEqual(['\u1ebf'.repeat(64)]);
  });

  it('are given by batches and watches to their captures', async () => {
    const requests = [{ url: site.url('/short'), labels: ['own'] }, { url: site.url('/empty-response') }];
    const answered = await app.post('/batch', { requests, labels: ['batch 3', 'own'] });
    const Batch = z.array(z.object({ result: z.object({ labels: z.array(z.string()) }) }));
    const made = Batch.parse(await answered.json());
    expect(made.map(({ result }) => result.labels)).toEqual([
      ['own', 'batch 3'],
      ['batch 3', 'own'],
    ]);
    const twenty = Array.from({ length: 20 }, (_, at) => `l${at}`);
    expect((await app.post('/batch', { requests, labels: twenty })).status).toBe(400);

    const events = await subscribe(`${app.baseUrl}/events?label=prices`);
    await app.post('/watches', { url: site.url('/short'), every: '1d', labels: ['prices'] });
    const told = await events.take(4);
    await events.close();
    expect(told.map(({ event }) => event).toSorted()).toEqual([
      'capture.queued',
      'capture.started',
      'capture.stored',
      'watch.run',
    ]);
    expect(await idsOf(await app.call('/results?label=prices'))).toHaveLength(1);
  });

  it('let only a stored capture answer that has them', async () => {
    const first = await shoot({ labels: ['kept'], cacheMaxAgeMs: 0 });
    const again = await shoot({ labels: ['kept'], cacheMaxAgeMs: 60_000 });
    expect(again).toMatchObject({ id: first.id, cached: true });
    expect(await shoot({ labels: ['kept', 'new'], cacheMaxAgeMs: 60_000 })).toMatchObject({ cached: false });
    expect(await shoot({ note: 'other', cacheMaxAgeMs: 60_000 })).toMatchObject({ cached: false, note: 'other' });
  });
});

describe('PATCH /results, when the database fails midway', () => {
  const app = serviceForSuite(NO_BROWSER);

  it('answers what it changed, and the cursor at which to go on', async () => {
    const total = 600;
    for (let id = 1; id <= total; id += 1)
      await keepCapture(app.service, id).then(({ result }) => app.service.results.insert(result));
    let left = 50;
    const fifty = app.next('capture.marked', () => --left === 0);
    const changing = app.call('/results?host=example.com&limit=1000', {
      method: 'PATCH',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ addLabels: ['sweep'] }),
    });
    await fifty;
    await app.loseDatabase();
    const response = await changing;
    expect(response.status).toBe(200);
    const { changed, failed, next } = Marked.parse(await response.json()).data;
    expect(changed).toBeGreaterThan(0);
    expect(changed).toBeLessThan(total);
    expect([failed, next]).toEqual([[], expect.any(String)]);
  });
});
