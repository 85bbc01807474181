import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { describe, expect, it } from 'vitest';
import type { CaptureOptions } from '../../src/capture/request.ts';
import { listening } from '../egress/listening.ts';
import { failureOf, patience, pidOf } from '../support/actor.ts';
import { captureRequest } from '../support/capture-request.ts';
import { actorForSuite, siteForSuite } from '../support/for-suite.ts';
import { type FamilyMember, familyOf } from '../support/process-family.ts';

describe('captures with isolation: batch', () => {
  const site = siteForSuite();
  const otherSite = siteForSuite();
  const running = actorForSuite();
  let batches = 0;

  /** Returns a function that captures items of one batch. */
  const startBatch = () => {
    batches += 1;
    const batch = `batch ${batches}`;
    return (url: string, options: CaptureOptions = {}) =>
      running.actor.capture(captureRequest(url, { isolation: 'batch', ...options }), patience, {
        batch,
      });
  };
  const storage = () => site.url('/storage');

  const renderers = async () =>
    (await familyOf(pidOf(running), readProcess)).filter(({ command }) => command.includes('--type=renderer'));

  it('ends the renderer when the batch has no more items', async () => {
    const before = (await renderers()).length;
    const capture = startBatch();
    await capture(storage());
    expect((await capture(storage())).title).toBe('visits: 2');
    await expect.poll(async () => (await renderers()).length).toBeLessThanOrEqual(before);
  });

  it('shows later captures of the batch the storage and cookies of earlier ones', async () => {
    const capture = startBatch();
    const titles: string[] = [];
    for (const path of ['/storage', '/cookie', '/storage', '/cookie', '/storage'])
      titles.push((await capture(site.url(path))).title);
    expect(titles).toEqual(['visits: 1', 'cookies: none', 'visits: 2', 'cookies: visited=yes', 'visits: 3']);
  });

  it('shares nothing with another batch, another origin, other options, or simultaneous captures', async () => {
    const capture = startBatch();
    expect((await capture(site.url('/cookie'))).title).toBe('cookies: none');
    const others = [
      () => startBatch()(site.url('/cookie')),
      // Cookies are for all ports of a host.
      () => capture(otherSite.url('/cookie')),
      () => capture(site.url('/cookie'), { cookies: [{ name: 'mine', value: '1' }] }),
      () => capture(site.url('/cookie'), { isolation: 'capture' }),
      () => running.actor.capture(captureRequest(site.url('/cookie'), { isolation: 'batch' }), patience),
    ];
    const titles: string[] = [];
    for (const other of others) titles.push((await other()).title);
    expect(titles).toEqual(['none', 'none', 'mine=1', 'none', 'none'].map((cookies) => `cookies: ${cookies}`));
    const together = startBatch();
    const both = await Promise.all([together(storage()), together(storage())]);
    expect(both.map(({ title }) => title)).toEqual(['visits: 1', 'visits: 1']);
  });

  it('gives the same image and evidence as captures that share nothing', async () => {
    const options: CaptureOptions = { darkMode: true, viewport: { width: 900, height: 500 }, evidence: ['network'] };
    const capture = startBatch();
    const alone = await capture(site.url('/medium'), { ...options, isolation: 'capture' });
    await capture(site.url('/short'), options);
    const shared = await capture(site.url('/medium'), options);
    expect(Buffer.compare(shared.image, alone.image)).toBe(0);
    expect([shared.html, shared.title, shared.remoteIp]).toEqual([alone.html, alone.title, alone.remoteIp]);
    const urlsOf = ({ evidence }: typeof alone) => evidence.network?.items.map(({ url }) => url).toSorted();
    expect(urlsOf(shared)).toEqual(urlsOf(alone));
  });

  it.each<CaptureOptions>([{}, { block: { types: ['other'] } }])(
    'lets no request of a capture arrive during a later one: beacons, keepalive, fetchLater (%j)',
    async (options) => {
      const requested: string[] = [];
      const server = createServer((request, response) => {
        const { url = '' } = request;
        requested.push(url);
        const [, page] = /^\/page\/(\d)$/.exec(url) ?? [];
        response.setHeader('content-type', 'text/html');
        if (page === undefined) setTimeout(() => response.end(), 20);
        else response.end(pageWithLateRequests(page));
      });
      await using late = await listening(server);
      const capture = startBatch();
      for (const page of [1, 2, 3]) {
        await capture(`http://127.0.0.1:${late.port}/page/${page}`, { waitUntil: 'load', ...options });
      }
      let current = '';
      const strays = requested.filter((url) => {
        const [, kind, page = ''] = url.split('/');
        if (kind === 'page') current = page;
        return page !== current;
      });
      expect(strays).toEqual([]);
      expect(requested.length).toBeGreaterThan(6);
    },
  );

  it('starts with a new page after a failed capture, and after a page that cannot be left', async () => {
    const capture = startBatch();
    const options: CaptureOptions = { failOnStatus: [404] };
    expect((await capture(storage(), options)).title).toBe('visits: 1');
    expect((await capture(storage(), options)).title).toBe('visits: 2');
    expect((await failureOf(capture(site.url('/404'), options))).code).toBe('unwanted_status');
    expect((await capture(`${storage()}?stays`, options)).title).toBe('visits: 1');
    expect((await capture(storage(), options)).title).toBe('visits: 1');
  });
});

/** A page that makes more requests than there are connections to a host, at its end too. */
function pageWithLateRequests(page: string): string {
  return `<!doctype html><script>
    const each = (kind, send) => { for (let at = 0; at < 20; at += 1) send('/late/${page}/' + kind + at); };
    each('beacon', (url) => navigator.sendBeacon(url));
    each('fetch', (url) => fetch(url, { keepalive: true }).catch(() => undefined));
    each('later', (url) => window.fetchLater?.(url));
    for (const type of ['pagehide', 'visibilitychange']) {
      addEventListener(type, () => {
        each(type, (url) => navigator.sendBeacon(url));
        each(type + '-fetch', (url) => fetch(url, { keepalive: true }).catch(() => undefined));
      });
    }
  </script><p>A page with late requests.</p>`;
}

async function readProcess(pid: number): Promise<(FamilyMember & { readonly command: string }) | undefined> {
  try {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
    const [, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return { pid, parent: Number(parent), command: await readFile(`/proc/${pid}/cmdline`, 'utf8') };
  } catch {
    return undefined;
  }
}
