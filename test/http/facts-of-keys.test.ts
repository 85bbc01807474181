import { createServer } from 'node:http';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { z } from 'zod';
import { HostFactsSchema } from '../../src/capture/result/host-facts.ts';
import { DeliverySchema, QuerySchema } from '../../src/http/answer/query-schemas.ts';
import { listening } from '../egress/listening.ts';
import type { RunningApp } from '../support/serve.ts';
import { idsOf } from './answers.ts';
import { ask, describeWithTenantsOfEachDatabase, keepForShop, ROOT, TENANTS, tenantsForSuite } from './tenants.ts';

const KEYS = [...TENANTS, ROOT];
const KEYED = { apiKey: KEYS.map(({ key }) => key), namedKeys: KEYS };
const SHA = 'ab'.repeat(32);
const FACTS = {
  host: 'many.example',
  title: 'listed',
  perception_hash: '7c1e3fa05b92d846',
  remote_ip: '192.0.2.77',
  host_facts: {
    server: 'nginx/1.26',
    powered_by: '',
    content_security_policy: false,
    hsts: true,
    certificate: {
      subject: 'many.example',
      names: ['many.example'],
      issuer: 'Test CA',
      valid_from: '2026-01-01T00:00:00.000Z',
      valid_to: '2027-01-01T00:00:00.000Z',
      sha256: SHA,
    },
    favicon: { hash: 7, sha256: 'cd'.repeat(32) },
    cnames: ['many.cdn.example'],
    technologies: [{ name: 'nginx', version: '1.26', sign: 'header' }],
  },
} as const;
/** The columns of these facts in CSV, in their order. */
const COLUMNS = `nginx/1.26,,false,true,many.example,many.example,Test CA,2026-01-01T00:00:00.000Z,2027-01-01T00:00:00.000Z,${SHA},7,${'cd'.repeat(32)},many.cdn.example,nginx 1.26`;
const OF_SHOP = [3, 2, 1];
const OF_FLOOD = [5, 4];

const Grouped = z.object({
  data: z.object({
    groups: z.array(z.object({ value: z.string(), count: z.number(), example: z.object({ id: z.number() }) })),
    results: z.number(),
  }),
});
const Captured = z.object({ data: z.object({ id: z.number(), host_facts: HostFactsSchema }) });
const Query = z.object({ data: QuerySchema });
const Delivered = z.object({ data: DeliverySchema });

describeWithTenantsOfEachDatabase((start) => {
  let site: Awaited<ReturnType<typeof listening>>;

  beforeAll(async () => {
    site = await listening(
      createServer((_, response) => {
        response.writeHead(200, { 'content-type': 'text/html', server: 'Harbour/2.1' }).end('<title>Harbour</title>');
      }),
    );
  });

  afterAll(() => site[Symbol.asyncDispose]());

  const running = tenantsForSuite(async () => {
    const tenants = await start({}, KEYED);
    for (const id of OF_SHOP.toReversed()) await keepForShop(tenants, id, FACTS);
    for (const id of OF_FLOOD.toReversed()) await keepForShop(tenants, id, { ...FACTS, api_key_name: 'flood' });
    return tenants;
  });

  it('finds by each fact of the host the captures of the own key alone, at each node', async () => {
    const { apps } = await running();
    for (const condition of [
      'address=192.0.2.0/24',
      'server=nginx',
      'technology=nginx/1',
      'favicon=7',
      'hsts=true',
      `certificate=${SHA}`,
      'certificateIssuer=test',
      'certificate=many.example',
      'certificateExpiresBefore=2028-01-01T00:00:00Z',
      'cname=cdn.example',
    ]) {
      for (const app of apps) {
        const found = async (key: string) => [condition, await idsOf(await ask(app, key, `/results?${condition}`))];
        expect(await found('shop-key')).toEqual([condition, OF_SHOP]);
        expect(await found('flood-key')).toEqual([condition, OF_FLOOD]);
        expect(await found('root-key')).toEqual([condition, [...OF_FLOOD, ...OF_SHOP]]);
      }
    }
  });

  it('exports the facts of the captures of the own key alone, at each node', async () => {
    const { apps } = await running();
    for (const app of apps) {
      const exported = async (key: string) => {
        const path = '/results/export?format=csv&cname=cdn.example&certificate=many.example';
        const [head = '', ...rows] = (await (await ask(app, key, path)).text()).trim().split('\r\n');
        const id = head.split(',').indexOf('id');
        return rows.map((row) => [Number(row.split(',')[id]), row.includes(COLUMNS)]);
      };
      const all = (ids: readonly number[]) => ids.map((id) => [id, true]);
      expect(await exported('shop-key')).toEqual(all(OF_SHOP));
      expect(await exported('flood-key')).toEqual(all(OF_FLOOD));
      expect(await exported('root-key')).toEqual(all([...OF_FLOOD, ...OF_SHOP]));
    }
  });

  it('groups the captures of the own key alone, with an example of them, at each node', async () => {
    const { apps } = await running();
    for (const [by, value] of [
      ['title', 'listed'],
      ['perception', FACTS.perception_hash],
      ['technology', 'nginx/1.26/'],
      ['favicon', '7'],
      ['certificate', SHA],
    ] as const) {
      for (const app of apps) {
        const groups = async (key: string) => {
          const path = `/results/groups?by=${by}&host=many.example`;
          const { data } = Grouped.parse(await (await ask(app, key, path)).json());
          return [by, data.results, ...data.groups.map((each) => [each.value, each.count, each.example.id])];
        };
        expect(await groups('shop-key')).toEqual([by, 3, [value, 3, 3]]);
        expect(await groups('flood-key')).toEqual([by, 2, [value, 2, 5]]);
        expect(await groups('root-key')).toEqual([by, 5, [value, 5, 5]]);
      }
    }
  });

  it('has the facts of a new capture in its record, in lists, groups and standing queries, whoever makes it', async () => {
    const { one, apps } = await running();
    const last = apps.at(-1) ?? one;
    const filter = { server: 'Harbour/2.1', technology: 'Harbour/2' };
    const queryOf = async (app: RunningApp, key: string) =>
      Query.parse(await (await ask(app, key, '/queries', 'POST', { filter })).json()).data.id;
    const [ofShop, ofFlood] = [await queryOf(last, 'shop-key'), await queryOf(last, 'flood-key')];
    const made = await ask(one, 'shop-key', '/screenshot', 'POST', { url: `http://127.0.0.1:${site.port}/` });
    const { id, host_facts: facts } = Captured.parse(await made.json()).data;
    expect(facts).toMatchObject({
      server: 'Harbour/2.1',
      technologies: [{ name: 'Harbour', version: '2.1', sign: 'header' }],
    });
    const lists = ['/results?server=harbour', '/results?technology=harbour', '/results?address=127.0.0.0/8'];
    for (const list of lists) {
      expect(await idsOf(await ask(last, 'shop-key', list)), list).toEqual([id]);
      expect(await idsOf(await ask(last, 'flood-key', list)), list).toEqual([]);
    }
    const { data } = Grouped.parse(await (await ask(last, 'shop-key', '/results/groups?by=technology')).json());
    expect(data.groups).toContainEqual({ value: 'Harbour/2.1/', count: 1, example: expect.objectContaining({ id }) });
    const next = async (key: string, query: string, wait: number) =>
      Delivered.parse(await (await ask(last, key, `/queries/${query}/next?wait=${wait}`)).json()).data.events.length;
    expect(await next('shop-key', ofShop, 60)).toBe(1);
    expect(await next('flood-key', ofFlood, 0)).toBe(0);
  });
});
