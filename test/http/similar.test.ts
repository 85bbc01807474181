import { beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { sentResult } from '../../src/capture/artifacts/artifact-paths.ts';
import { serviceForSuite } from '../support/for-suite.ts';
import { NO_BROWSER } from '../support/service.ts';
import { failureOf, idsOf } from './answers.ts';
import { resultOf } from './stored-capture.ts';

/**
 * Last digits of the hashes of captures 1 and up. The tests search for captures similar to capture 1; the others differ
 * from it in 0, 0, 1, 4 and 6 bits.
 */
const ENDS = ['00', '00', '00', '01', '0f', '3f'];
const WITHOUT = 7;
/** More captures than an answer may hold. */
const SAME = 1005;

const Answer = z.object({ data: z.array(z.object({ id: z.number(), distance: z.number() })) });

describe('GET /results/similar/{id}', () => {
  const app = serviceForSuite(NO_BROWSER);

  beforeAll(async () => {
    const { results } = app.service;
    await Promise.all(
      ENDS.map((end, at) => results.insert(resultOf(at + 1, { perception_hash: `7c1e3fa05b92d8${end}` }))),
    );
    await results.insert(resultOf(WITHOUT));
    await Promise.all(
      Array.from({ length: SAME }, (_, at) =>
        results.insert(resultOf(100 + at, { perception_hash: 'ffffffff00000000' })),
      ),
    );
  });

  it('returns whole results with their distance, nearest first, then newest, without the given capture', async () => {
    const response = await app.call('/results/similar/1');
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({
      success: true,
      data: [
        { ...sentResult(resultOf(3, { perception_hash: '7c1e3fa05b92d800' })), distance: 0 },
        { ...sentResult(resultOf(2, { perception_hash: '7c1e3fa05b92d800' })), distance: 0 },
        { id: 4, distance: 1 },
        { id: 5, distance: 4 },
      ],
    });
  });

  it('ends after 4 MiB of records', async () => {
    const { results } = app.service;
    const wide = { perception_hash: '00000000ffffffff', options: { css: 'x'.repeat(100_000) } };
    for (let at = 0; at < 60; at += 1) await results.insert(resultOf(5000 + at, wide));
    const response = await app.call('/results/similar/5059?limit=1000');
    const { data } = Answer.parse(await response.json());
    expect(data.map(({ id }) => id)).toEqual(Array.from({ length: 42 }, (_, at) => 5058 - at));
  });

  it.each([
    ['?distance=0', [3, 2]],
    ['?distance=1', [3, 2, 4]],
    ['?distance=6', [3, 2, 4, 5, 6]],
    ['?distance=15', [3, 2, 4, 5, 6]],
    ['?distance=6&limit=3', [3, 2, 4]],
  ])('accepts %s', async (query, ids) => {
    const { data } = Answer.parse(await (await app.call(`/results/similar/1${query}`)).json());
    expect(data.map(({ id }) => id)).toEqual(ids);
  });

  it('returns 100 results by default, otherwise as many as its limit says, at most 1000', async () => {
    for (const [query, count] of [
      ['', 100],
      ['?limit=7', 7],
      ['?limit=99999', 1000],
    ] as const) {
      const ids = await idsOf(await app.call(`/results/similar/100${query}`));
      expect(ids).toEqual(Array.from({ length: count }, (_, at) => 100 + SAME - 1 - at));
    }
  });

  it.each(['16', '-1', '1.5', '', 'five'])('refuses the distance %j', async (distance) => {
    const response = await app.call(`/results/similar/1?distance=${distance}`);
    expect(response.status).toBe(400);
    expect(await failureOf(response)).toMatchObject({
      code: 'invalid_request',
      error: expect.stringContaining('an integer from 0 to 15'),
    });
  });

  it('answers 404 for an unknown capture, and for one without a hash, saying how to get a hash', async () => {
    const without = await app.call(`/results/similar/${WITHOUT}`);
    expect(without.status).toBe(404);
    expect(await failureOf(without)).toMatchObject({
      code: 'not_found',
      error: expect.stringContaining('capture the page with evidence ["perception_hash"]'),
    });
    expect((await app.call('/results/similar/99')).status).toBe(404);
    expect((await app.call('/results/similar/by-url')).status).toBe(400);
  });
});
