import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Snapshot } from '../../src/capture/result/snapshot.ts';
import { patience } from '../support/actor.ts';
import { captureRequest } from '../support/capture-request.ts';
import { actorForSuite, siteForSuite } from '../support/for-suite.ts';
import { type RunningProxy, startProxy } from '../support/proxy.ts';
import { IN_FEW_PIXELS } from '../support/site-and-actor.ts';

/* These public host names are resolved only by the proxy, all to the fixture site. */

const AD_HOSTS = ['securepubads.g.doubleclick.net', 'cdn.taboola.com'];
const OTHER_HOSTS = ['news.example', 'fonts.gstatic.com'];

describe('blockAds', () => {
  const site = siteForSuite();
  let proxy: RunningProxy;
  beforeAll(async () => {
    const names = Object.fromEntries([...AD_HOSTS, ...OTHER_HOSTS].map((host) => [host, '127.0.0.1']));
    proxy = await startProxy({ names });
  });
  afterAll(() => proxy?.[Symbol.asyncDispose]());
  const running = actorForSuite();

  const at = (host: string, path: string) => `http://${host}:${site.port}${path}`;
  /** Returns the hosts that a page of `host` requests images from; it embeds one image of each. */
  async function asked(host: string, blockAds: boolean): Promise<readonly string[]> {
    const mark = `/image.png?${host}&${blockAds}`;
    const embedded = [...AD_HOSTS, ...OTHER_HOSTS].map((from) => `of=${encodeURIComponent(at(from, mark))}`);
    await capture(at(host, `/embeds?${embedded.join('&')}`), blockAds);
    return site.requests
      .filter(({ url }) => url === mark)
      .map(({ headers }) => (headers.host ?? '').split(':')[0] ?? '');
  }
  function capture(url: string, blockAds: boolean): Promise<Snapshot> {
    const server = `http://127.0.0.1:${proxy.port}`;
    return running.actor.capture(captureRequest(url, { ...IN_FEW_PIXELS, blockAds, proxy: { server } }), patience);
  }

  it('blocks the hosts of advertisers, and nothing else', async () => {
    expect((await asked('news.example', false)).toSorted()).toEqual([...AD_HOSTS, ...OTHER_HOSTS].toSorted());
    expect((await asked('news.example', true)).toSorted()).toEqual(OTHER_HOSTS.toSorted());
  });

  it("leaves an advertiser's own page complete", async () => {
    expect(await asked('cdn.taboola.com', true)).toContain('cdn.taboola.com');
    expect(await asked('cdn.taboola.com', true)).not.toContain('securepubads.g.doubleclick.net');
  });

  it("follows an advertiser's redirect to a page", async () => {
    const onward = encodeURIComponent(
      at('cdn.taboola.com', `/redirect?to=${encodeURIComponent(at('news.example', '/short'))}`),
    );
    expect((await capture(at('news.example', `/redirect?to=${onward}`), true)).title).toContain('A small port');
  });
});
