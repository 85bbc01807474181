import { expect, it } from 'vitest';
import { z } from 'zod';
import { siteForSuite } from '../support/for-suite.ts';
import { describeWithTenants, TENANTS } from './tenants.ts';

const Item = z.object({
  result: z.object({ title: z.string(), options: z.object({ isolation: z.literal('batch').optional() }) }),
});
const Job = z.object({ data: z.object({ state: z.string(), results: z.array(Item).optional() }) });

const visitsOf = ({ result }: z.output<typeof Item>) => result.title;

describeWithTenants((start) => {
  const site = siteForSuite();

  it('shares a page only among items of one batch, body of lines or job with isolation: batch', async () => {
    await using tenants = await start({ maxConcurrent: 1, clusterMaxConcurrent: 1 });
    const items = (options: Readonly<Record<string, unknown>>) =>
      Array.from({ length: 2 }, () => ({ url: site.url('/storage'), ...options }));
    const { one } = tenants;
    const list = async (key: string, options: Readonly<Record<string, unknown>>) => {
      const response = await one.post('/batch', { requests: items(options) }, { headers: { 'X-Api-Key': key } });
      return z.array(Item).parse(await response.json());
    };
    const shared = { isolation: 'batch' };
    const counted = ['visits: 1', 'visits: 2'];
    for (const { key } of TENANTS) {
      const items = await list(key, shared);
      expect(items.map(visitsOf)).toEqual(counted);
      expect(items.map(({ result }) => result.options)).toEqual(Array(2).fill(shared));
    }
    const [{ key }] = TENANTS;
    expect((await list(key, {})).map(visitsOf)).toEqual(Array(2).fill('visits: 1'));

    const body = items(shared)
      .map((item) => JSON.stringify(item))
      .join('\n');
    const headers = { 'Content-Type': 'application/x-ndjson', 'X-Api-Key': key };
    const lines = (await (await one.call('/batch', { method: 'POST', headers, body })).text()).trim().split('\n');
    expect(lines.map((line) => visitsOf(Item.parse(JSON.parse(line)))).toSorted()).toEqual(counted);

    const accepted = await one.post(
      '/batch',
      { requests: items(shared) },
      { headers: { 'X-Api-Key': key, Prefer: 'respond-async' } },
    );
    const path = accepted.headers.get('location') ?? '';
    const job = async () => Job.parse(await (await one.call(path, { headers: { 'X-Api-Key': key } })).json()).data;
    await expect.poll(async () => (await job()).state).toBe('completed');
    expect((await job()).results?.map(visitsOf)).toEqual(counted);
  });
});
