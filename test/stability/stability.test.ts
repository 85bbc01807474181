import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { StabilitySchema } from '../../src/capture/comparison/stability.ts';
import type { Listening } from '../egress/listening.ts';
import { failureOf } from '../http/answers.ts';
import { serviceForSuite } from '../support/for-suite.ts';
import { type RunningProxy, startProxy } from '../support/proxy.ts';
import { AD_HOST, SEEDED, seededSite } from './seeded-site.ts';

const Found = z.object({ data: StabilitySchema });
const Captured = z.object({ data: z.object({ id: z.number() }) });
const Compared = z.object({ data: z.object({ share: z.number(), regions: z.array(z.unknown()) }) });

/** Captures after the check, each compared with the first. */
const RECAPTURES = 2;

describe('POST /captures/stability', () => {
  const app = serviceForSuite({ maxConcurrent: 4 });
  let site: Listening;
  let proxy: RunningProxy;
  beforeAll(async () => {
    site = await seededSite();
    proxy = await startProxy({ names: { 'news.example': '127.0.0.1', [AD_HOST]: '127.0.0.1' } });
  });
  afterAll(async () => {
    await proxy?.[Symbol.asyncDispose]();
    await site?.[Symbol.asyncDispose]();
  });

  it.concurrent('names the elements that differ with their causes, and ignoring them leaves no difference', async () => {
    const page = { url: `http://news.example:${site.port}/`, proxy: { server: `http://127.0.0.1:${proxy.port}` } };
    const { data } = Found.parse(await (await app.post('/captures/stability', page)).json());
    const causes = Object.fromEntries(data.unstable.map(({ selector, cause }) => [selector, cause]));
    // One of them may look the same in all captures by chance.
    expect(SEEDED).toMatchObject(causes);
    expect(data.unstable.length).toBeGreaterThanOrEqual(Object.keys(SEEDED).length - 1);
    expect(data.ignore).toEqual(data.unstable.map(({ selector }) => `selector:${selector}`));

    const selectors = Object.keys(SEEDED).map((selector) => `selector:${selector}`);
    const ignored = selectors.map((each) => `&ignore=${encodeURIComponent(each)}`).join('');
    const shoot = async () => Captured.parse(await (await app.post('/screenshot', page)).json()).data.id;
    const first = await shoot();
    for (let count = 0; count < RECAPTURES; count += 1) {
      const compare = async (query: string) => Compared.parse(await (await app.call(query)).json()).data;
      const pair = `/compare?a=${first}&b=${await shoot()}`;
      expect((await compare(pair)).share).toBeGreaterThan(0);
      expect(await compare(`${pair}${ignored}`)).toEqual({ share: 0, regions: [] });
    }
  });

  it.concurrent('finds nothing in a page that looks the same each time, and fails as its captures do', async () => {
    const html = '<h1>Harbour</h1><p>The ferry sails at nine.';
    const { data } = Found.parse(await (await app.post('/captures/stability', { html })).json());
    expect(data).toMatchObject({ stable: true, unstable: [], ignore: [] });
    expect(data.captures).toHaveLength(11);
    const failed = await app.post('/captures/stability', { url: 'http://10.0.0.1/' });
    expect([failed.status, (await failureOf(failed)).code]).toEqual([403, 'target_forbidden']);
  });
});
