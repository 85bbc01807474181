import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { capture } from '../faults/client.ts';
import { inRanges } from '../http/in-ranges.ts';
import { siteForSuite } from '../support/for-suite.ts';
import { clusterOf, serversForSuite, whyNoCluster } from './cluster-of-processes.ts';

const whyNot = await whyNoCluster();
const reason = whyNot === undefined ? '' : ` (skipped: ${whyNot})`;

describe.skipIf(whyNot !== undefined)(`tall pages in a cluster${reason}`, () => {
  const site = siteForSuite();
  const servers = serversForSuite();

  it('captures a page of 60,000 px on a worker, and serves it in ranges, and its thumbnail, at another node', async () => {
    await using cluster = await clusterOf(servers, 'tall');
    const [first, second] = await Promise.all([cluster.start('api'), cluster.start('api'), cluster.start('worker')]);
    await cluster.workers(first, 1);
    const { status, result } = await capture(first.url, {
      url: site.url('/tall?px=60000'),
      fullPage: true,
      viewport: { width: 320, height: 4_000 },
      timeoutMs: 60_000,
    });
    expect({ status, height: result?.height, truncatedBy: result?.truncated_by }).toEqual({
      status: 200,
      height: 60_000,
      truncatedBy: '',
    });
    const image = `${second.url}${result?.screenshot}`;
    // While MongoDB is slow, the capture waits on the worker's disk: `503 artifact_pending`.
    const imageStatus = async () => {
      const answer = await fetch(image);
      await answer.arrayBuffer();
      return answer.status;
    };
    await expect.poll(imageStatus).toBe(200);
    expect((await inRanges((init) => fetch(image, init))).size).toEqual([320, 60_000]);
    const thumbnail = await fetch(`${image}?width=320&height=200`);
    expect(await sharp(await thumbnail.arrayBuffer()).metadata()).toMatchObject({ width: 320, height: 200 });
  });
});
