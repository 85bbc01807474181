import { beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { sentResult } from '../../src/capture/artifact-paths.ts';
import { serviceForSuite } from '../support/for-suite.ts';
import { NO_BROWSER } from '../support/service.ts';
import { failureOf, idsOf } from './answers.ts';
import { resultOf } from './stored-capture.ts';

/** The last digits of the hashes of captures 1 and on: the first is asked for, the others differ in 0, 0, 1, 4, 6 bits. */
const ENDS = ['00', '00', '00', '01', '0f', '3f'];
const WITHOUT = 7;
/** So many as no answer may hold. */
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

  it('gives whole results with their distance, nearest first and then newest, without the one asked for', async () => {
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

  it.each([
    ['?distance=0', [3, 2]],
    ['?distance=1', [3, 2, 4]],
    ['?distance=6', [3, 2, 4, 5, 6]],
    ['?distance=15', [3, 2, 4, 5, 6]],
    ['?distance=6&limit=3', [3, 2, 4]],
  ])('takes %s', async (query, ids) => {
    const { data } = Answer.parse(await (await app.call(`/results/similar/1${query}`)).json());
    expect(data.map(({ id }) => id)).toEqual(ids);
  });

  it('gives 100 results, or as many as are asked for, and at most 1000', async () => {
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

  it('says what a capture without a hash lacks, and which captures are not there', async () => {
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
