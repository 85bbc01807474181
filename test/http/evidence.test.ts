import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { EVIDENCE_KINDS } from '../../src/capture/result/evidence.ts';
import {
  BatchResultSchema,
  DetailedResultSchema,
  ResultSchema,
  SimilarResultSchema,
} from '../../src/http/answer/schemas.ts';
import { serviceForSuite, siteForSuite } from '../support/for-suite.ts';

const One = z.object({ data: DetailedResultSchema });
const FREE = ['cookies', 'dialogs', 'popups'];

describe('evidence', () => {
  const site = siteForSuite();
  const app = serviceForSuite();

  async function shoot(path: string, options: Readonly<Record<string, unknown>> = {}) {
    const response = await app.post('/screenshot', { url: site.url(path), ...options });
    expect(response.status).toBe(200);
    return One.parse(await response.json()).data;
  }

  const keysOf = (evidence: object | null) => Object.keys(evidence ?? {}).sort();

  it('returns the requested evidence, and no other, with the capture and with its record', async () => {
    for (const [options, kinds] of [
      [{}, []],
      [{ evidence: [] }, []],
      [{ evidence: ['network', 'headers', 'network'] }, ['headers', 'network']],
      [{ evidence: 'all' }, EVIDENCE_KINDS.filter((kind) => kind !== 'perception_hash')],
    ] as const) {
      const taken = await shoot('/short', options);
      expect(keysOf(taken.evidence)).toEqual([...FREE, ...kinds].sort());
      expect(One.parse(await (await app.call(`/results/${taken.id}`)).json()).data).toEqual(taken);
    }
  });

  it('leaves evidence out of lists, batches and jobs', async () => {
    const batch = await app.post('/batch', { requests: [{ url: site.url('/text.txt'), evidence: 'all' }] });
    const [item] = z.array(BatchResultSchema).parse(await batch.json());
    expect(item?.result).toMatchObject({ failed: false });
    const list = z.object({ data: z.array(ResultSchema) });
    expect(list.parse(await (await app.call('/results')).json()).data).not.toHaveLength(0);
    expect(list.parse(await (await app.call('/results/by-host?host=127')).json()).data).not.toHaveLength(0);
  });

  it('includes in the result the perception hash by which similar captures are found', async () => {
    const first = await shoot('/short', { evidence: ['perception_hash'] });
    expect(first.perception_hash).toMatch(/^[0-9a-f]{16}$/);
    expect(keysOf(first.evidence)).toEqual(FREE);
    const jpeg = await shoot('/short', { evidence: ['perception_hash'], format: 'jpeg', quality: 60 });
    const other = await shoot('/lighthouse', { evidence: ['perception_hash'] });
    const unhashed = await shoot('/short');
    expect(unhashed.perception_hash).toBeNull();

    const response = await app.call(`/results/similar/${first.id}`);
    const similar = z.object({ data: z.array(SimilarResultSchema) }).parse(await response.json()).data;
    const ids = similar.map(({ id }) => id);
    expect(ids).toContain(jpeg.id);
    for (const { id } of [first, other, unhashed]) expect(ids).not.toContain(id);
  });

  it('returns no perception hash for a PDF', async () => {
    const { perception_hash: hash, format } = await shoot('/short', { evidence: 'all', format: 'pdf' });
    expect({ hash, format }).toEqual({ hash: null, format: 'pdf' });
  });

  it('returns evidence with a reused capture', async () => {
    const first = await shoot('/short?again', { evidence: ['headers'] });
    const again = await shoot('/short?again', { evidence: ['headers'], cacheMaxAgeMs: 60_000 });
    expect(again).toEqual({ ...first, cached: true });
  });

  it('stores evidence with the record of a failed capture', async () => {
    const response = await app.post('/screenshot', { url: site.url('/evidence/way/nowhere'), evidence: ['redirects'] });
    expect(response.status).toBe(502);
    const { data: failed } = z.object({ data: ResultSchema }).parse(await response.json());
    const { data: kept } = One.parse(await (await app.call(`/results/${failed.id}`)).json());
    expect(kept).toMatchObject(failed);
    expect(kept.evidence?.redirects?.items).toMatchObject([{ status: 301, location: site.url('/empty-response') }]);
  });

  it('removes evidence with its capture', async () => {
    const { id } = await shoot('/short', { evidence: 'all' });
    expect((await app.call(`/screenshot/${id}`, { method: 'DELETE' })).status).toBe(200);
    expect((await app.call(`/results/${id}`)).status).toBe(404);
  });

  it('computes the same options digest whatever the order of the evidence items', async () => {
    const digests = new Set<string>();
    for (const evidence of [
      ['tls', 'headers'],
      ['headers', 'tls', 'tls'],
    ]) {
      digests.add((await shoot('/short', { evidence })).options_digest);
    }
    expect(digests.size).toBe(1);
  });

  it.each(['everything', ['technologies'], [1], 1, {}, Array(9).fill('tls')])('refuses %j', async (evidence) => {
    const response = await app.post('/screenshot', { url: site.url('/short'), evidence });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      code: 'invalid_request',
      error: expect.stringMatching(/^evidence(\[0\])?: must be "all" or a list of redirects, headers, tls, console/),
    });
  });
});
