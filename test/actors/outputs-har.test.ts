import { createRequire } from 'node:module';
import Ajv from 'ajv';
import draft06 from 'ajv/dist/refs/json-schema-draft-06.json' with { type: 'json' };
import addFormats from 'ajv-formats';
import type { Har } from 'har-format';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { CaptureOptions } from '../../src/capture/request.ts';
import { patience } from '../support/actor.ts';
import { captureRequest } from '../support/capture-request.ts';
import { siteAndActor } from '../support/site-and-actor.ts';

const ajv = addFormats.default(new Ajv.default({ strict: false }));
ajv.addMetaSchema(draft06);
const schemas = z.record(z.string(), z.looseObject({ $id: z.string() }));
ajv.addSchema(Object.values(schemas.parse(createRequire(import.meta.url)('har-schema'))));

describe('the output har', () => {
  const ground = siteAndActor();

  async function harOf(path: string, options: CaptureOptions = {}): Promise<Har> {
    const request = captureRequest(ground.site.url(path), { outputs: ['har'], ...options });
    const { outputs } = await ground.running.actor.capture(request, patience);
    const har = JSON.parse(String(outputs.har?.content));
    expect(ajv.validate('har.json#', har), ajv.errorsText()).toBe(true);
    return har;
  }

  it.each([
    ['the direct driver', {}],
    ['Playwright', { waitForFunction: 'true' }],
  ])('has the requests that the site has seen, by %s', async (_driver, options) => {
    const before = ground.site.requests.length;
    const { log } = await harOf('/medium', options);
    const asked = log.entries.map(({ request }) => `${request.method} ${request.url}`);
    const seen = ground.site.requests.slice(before).map(({ method, url }) => `${method} ${ground.site.url(url)}`);
    expect(asked.toSorted()).toEqual(seen.toSorted());
    expect(asked.length).toBeGreaterThan(1);
    const [page] = log.pages ?? [];
    expect(page?.pageTimings.onLoad).toBeGreaterThan(0);
  });

  it('has each hop of a redirect, a failed request, and times that add up', async () => {
    const { entries } = (await harOf('/redirect')).log;
    expect(entries.map(({ response }) => response.status)).toEqual(expect.arrayContaining([302, 200]));
    expect(entries[0]?.response.redirectURL).toBe('/short');
    for (const { time, timings } of entries) {
      const { blocked = -1, dns = -1, connect = -1, send = 0, wait, receive } = timings;
      const sum = [blocked, dns, connect, send, wait, receive].reduce((all, ms) => all + Math.max(0, ms), 0);
      expect(time).toBeCloseTo(sum, 3);
    }
  });

  it('withholds cookies, credentials and the headers of the request', async () => {
    const har = await harOf('/short', {
      headers: { 'X-Secret': 'hush-header' },
      cookies: [{ name: 'sid', value: 'hush-cookie' }],
      httpCredentials: { username: 'ida', password: 'hush-password' },
    });
    const text = JSON.stringify(har);
    expect(text).not.toContain('hush');
    expect(text).toContain('(withheld)');
  });
});
