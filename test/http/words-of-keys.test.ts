import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { DeliverySchema, QuerySchema } from '../../src/http/answer/query-schemas.ts';
import { ListedResultSchema } from '../../src/http/answer/schemas.ts';
import { connect } from '../mcp/clients.ts';
import type { RunningApp } from '../support/serve.ts';
import { subscribe } from './event-subscriber.ts';
import { HOSTILE_WORDS, REFUSED_WORDS } from './hostile-words.ts';
import { describeWithTenantsOfEachDatabase, tenantsForSuite } from './tenants.ts';

const Captured = z.object({ data: z.object({ id: z.number() }) });
const Found = z.object({ data: z.array(ListedResultSchema) });
const Query = z.object({ data: QuerySchema });
const Delivered = z.object({ data: DeliverySchema });
const About = z.object({ id: z.number() });
const Grouped = z.object({ data: z.object({ groups: z.array(z.object({ example: About })), results: z.number() }) });
const Told = z.object({ structuredContent: z.object({ captures: z.array(About) }) });

/** A client with the API key of a tenant. */
function client(app: Pick<RunningApp, 'call' | 'post'>, key: string) {
  const headers = { 'X-API-Key': key };
  return {
    shoot: async (html: string) => {
      const response = await app.post('/screenshot', { html }, { headers });
      expect(response.status, await response.clone().text()).toBe(200);
      return Captured.parse(await response.json()).data.id;
    },
    call: (path: string) => app.call(path, { headers }),
    find: async (words: string, path = '/results') => {
      const response = await app.call(`${path}?words=${encodeURIComponent(words)}`, { headers });
      expect(response.status, await response.clone().text()).toBe(200);
      return Found.parse(await response.json()).data;
    },
    query: async (words: string) => {
      const response = await app.post('/queries', { filter: { words } }, { headers });
      return Query.parse(await response.json()).data.id;
    },
    next: async (id: string) => {
      const response = await app.call(`/queries/${id}/next?wait=60`, { headers });
      return Delivered.parse(await response.json()).data.events.map(({ event }) => About.parse(event).id);
    },
  };
}

describe('with isolated keys, the words of a page', () => {
  describeWithTenantsOfEachDatabase((start) => {
    const running = tenantsForSuite(() => start({ indexWords: true }));

    it('are found by their own key alone, with its snippets, in lists, groups, events, standing queries and by agents', {
      timeout: 120_000,
    }, async () => {
      const { one, apps } = await running();
      const shop = client(one, 'shop-key');
      const flood = client(apps.at(-1) ?? one, 'flood-key');
      const [ofShop, ofFlood] = await Promise.all([shop.query('"red kite"'), flood.query('"red kite"')]);
      const heard = await Promise.all(
        ['shop-key', 'flood-key'].map((key) =>
          subscribe(`${one.baseUrl}/events?type=capture.stored&words=kite`, { 'X-API-Key': key }),
        ),
      );
      const own = await shop.shoot('<!doctype html><title>Kites</title><p>A red kite of the shop');
      const other = await flood.shoot('<!doctype html><title>Kites</title><p>A red kite that floods');
      for (const path of ['/results', '/results/export']) {
        const text = await (await shop.call(`${path}?words=kite`)).text();
        expect(text).toContain(String(own));
        expect(text).not.toContain(String(other));
        expect(text).not.toContain('floods');
      }
      const found = await flood.find('kite');
      expect(found.map(({ id }) => id)).toEqual([other]);
      expect(found[0]?.snippets?.map(({ text }) => text)).toEqual(['A red kite that floods']);
      expect(await shop.find('floods')).toEqual([]);
      expect(await shop.find('-kite')).toEqual([]);
      expect((await shop.call(`/results/${other}?words=kite`)).status).toBe(404);
      expect(await shop.next(ofShop)).toEqual([own]);
      expect(await flood.next(ofFlood)).toEqual([other]);
      for (const [key, id] of [
        ['shop-key', own],
        ['flood-key', other],
      ] as const) {
        const groups = await client(one, key).call('/results/groups?by=title&words=kite');
        expect(Grouped.parse(await groups.json()).data).toMatchObject({ results: 1, groups: [{ example: { id } }] });
        const agent = await connect(one.baseUrl, key);
        const told = Told.parse(await agent.callTool({ name: 'find', arguments: { words: 'kite' } }));
        expect(told.structuredContent.captures.map((each) => each.id)).toEqual([id]);
        await agent.close();
      }
      for (const [at, id] of [own, other].entries()) {
        expect(About.parse((await heard[at]?.event())?.data).id).toBe(id);
        await heard[at]?.close();
      }
    });

    it('are looked for by hostile words without an error of the service', async () => {
      const { one } = await running();
      const headers = { 'X-API-Key': 'shop-key' };
      for (const words of REFUSED_WORDS) {
        const listed = await one.call(`/results?words=${encodeURIComponent(words)}`, { headers });
        expect([400, 414, 431], words.slice(0, 30)).toContain(listed.status);
        expect((await one.post('/queries', { filter: { words } }, { headers })).status, words.slice(0, 30)).toBe(400);
      }
      for (const words of HOSTILE_WORDS) {
        const made = await one.post('/queries', { filter: { words } }, { headers });
        expect([201, 400], words).toContain(made.status);
        for (const path of [
          '/results',
          '/results/export',
          '/results/by-host?host=a.example',
          '/results/groups?by=title',
        ]) {
          // A URL has no half characters.
          const asked = encodeURIComponent(words.toWellFormed());
          const listed = await one.call(`${path}${path.includes('?') ? '&' : '?'}words=${asked}`, { headers });
          expect([200, 400], `${path} ${words}`).toContain(listed.status);
        }
      }
    });
  });
});
