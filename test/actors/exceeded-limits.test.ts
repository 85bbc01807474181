import { createServer } from 'node:http';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Snapshot } from '../../src/capture/result/snapshot.ts';
import { createTargetPolicy } from '../../src/egress/address-policy.ts';
import { createEgress, type EgressOptions } from '../../src/egress/create-egress.ts';
import type { Egress } from '../../src/egress/egress.ts';
import { type Listening, listening } from '../egress/listening.ts';
import { patience } from '../support/actor.ts';
import { actorPerTest } from '../support/actor-per-test.ts';
import { captureRequest } from '../support/capture-request.ts';

const IMAGES = 10;
/** A style sheet, of which Chromium reads all: of an image, no more than shows that it cannot be decoded. */
const LARGE = ' '.repeat(2 * 1024 * 1024);

describe('a capture that exceeds a limit of its network traffic', () => {
  const start = actorPerTest();
  let site: Listening;
  let egress: Egress | undefined;

  beforeAll(async () => {
    site = await listening(
      createServer((request, response) => {
        const { pathname, searchParams } = new URL(request.url ?? '/', 'http://site.test');
        if (pathname === '/large') return void response.writeHead(200, { 'Content-Type': 'text/css' }).end(LARGE);
        const images = Array.from({ length: IMAGES }, (_, at) =>
          searchParams.has('names') ? `http://image-${at}.test:${site.port}/image` : `/image-${at}`,
        );
        const content = searchParams.has('bytes')
          ? '<link rel="stylesheet" href="/large">'
          : images.map((url) => `<img src="${url}">`).join('');
        response.setHeader('Content-Type', pathname === '/' ? 'text/html' : 'image/png');
        response.end(`<!doctype html><title>page</title>${content}`);
      }),
    );
  });
  afterAll(() => site?.[Symbol.asyncDispose]());
  afterEach(() => egress?.close());

  async function capture(query: string, limits: Partial<EgressOptions>): Promise<Snapshot> {
    egress = createEgress({
      policy: createTargetPolicy({ allow: ['127.0.0.1'], deny: [] }),
      lookup: async () => ['127.0.0.1'],
      ...limits,
    });
    const { actor } = await start({ egress });
    return actor.capture(captureRequest(`http://127.0.0.1:${site.port}/?${query}`), patience);
  }

  it('reports a complete capture, without exceeded limits, when it stays within all limits', async () => {
    const { cutPhase, evidence } = await capture('', { maxRequests: IMAGES + 2 });
    expect(cutPhase).toBeNull();
    expect(evidence).not.toHaveProperty('exceeded');
  });

  it('reports a partial capture with the number of refused requests', async () => {
    const { cutPhase, title, evidence } = await capture('', { maxRequests: 4 });
    expect({ cutPhase, title }).toEqual({ cutPhase: 'load', title: 'page' });
    expect(evidence.exceeded).toEqual([{ limit: 'requests', max: 4, refused: expect.any(Number) }]);
    expect(evidence.exceeded?.[0]?.refused).toBeGreaterThanOrEqual(IMAGES - 3);
  });

  it('reports a partial capture with the number of names that were not looked up', async () => {
    const { cutPhase, evidence } = await capture('names', { maxLookups: 3 });
    expect(cutPhase).toBe('load');
    expect(evidence.exceeded).toEqual([{ limit: 'names', max: 3, refused: expect.any(Number) }]);
    expect(evidence.exceeded?.[0]?.refused).toBeGreaterThanOrEqual(IMAGES - 3);
  });

  it('reports a partial capture when it receives too many bytes', async () => {
    const { cutPhase, evidence } = await capture('bytes', { maxBytes: 1024 * 1024 });
    expect(cutPhase).toBe('load');
    expect(evidence.exceeded).toEqual([{ limit: 'bytes', max: 1024 * 1024, refused: expect.any(Number) }]);
  });
});
