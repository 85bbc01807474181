import { describe, expect, it } from 'vitest';
import type { CaptureOptions } from '../../src/capture/request.ts';
import type { Snapshot } from '../../src/capture/result/snapshot.ts';
import { failureOf, patience } from '../support/actor.ts';
import { captureRequest, LATE } from '../support/capture-request.ts';
import { numbersOf, type Pixels, pixelsOf } from '../support/image.ts';
import { type SiteAndActor, siteAndActor } from '../support/site-and-actor.ts';

export interface DriverGround extends Pick<SiteAndActor, 'site' | 'running'> {
  /** Captures a path of the site, or a URL. */
  readonly capture: (path: string, options?: CaptureOptions, signal?: AbortSignal) => Promise<Snapshot>;
}

/**
 * Defines the tests that captures by both drivers must pass. The options `asks` select the driver. Playwright attaches
 * when the page has loaded: what happens before, and how the image is made, is the same.
 */
export function describeDriver(
  name: string,
  asks: CaptureOptions,
  more: (ground: DriverGround) => void = () => {},
): void {
  describe(`a capture by ${name}`, () => {
    const ground = siteAndActor();
    const capture: DriverGround['capture'] = (path, overrides = {}, signal = patience) =>
      ground.running.actor.capture(
        captureRequest(URL.canParse(path) ? path : ground.site.url(path), { ...asks, ...overrides }),
        signal,
      );
    describeCaptures({ ...ground, capture });
    more({ ...ground, capture });
  });
}

function describeCaptures({ site, running, capture }: DriverGround): void {
  it('returns the screenshot, the document and the response of a page', async () => {
    const snapshot = await capture('/short');
    expect(snapshot).toMatchObject({
      finalUrl: site.url('/short'),
      title: 'A small port with deep water · Port of Lindholm',
      responseCode: 200,
      responseReason: 'OK',
      contentType: 'text/html',
      width: 1280,
      height: 720,
      truncated: false,
      cutPhase: null,
      remoteIp: '127.0.0.1',
    });
    const page = await (await fetch(site.url('/short'))).text();
    expect(snapshot.contentLength).toBe(Buffer.byteLength(page));
    expect(snapshot.html).toContain('<!DOCTYPE html>');
    expect(snapshot.html).toContain('</html>');
    const png = await pixelsOf(snapshot.image);
    expect([png.width, png.height]).toEqual([1280, 720]);
    expect(coloursOf(png).size).toBeGreaterThan(50);
  });

  it('captures the whole page with fullPage, from its first row to its last', async () => {
    const snapshot = await capture('/fullpage-marker', { fullPage: true });
    expect(snapshot).toMatchObject({ width: 1280, height: 3000, truncated: false });
    const png = await pixelsOf(snapshot.image);
    expect(png.height).toBe(3000);
    expect(pixel(png, 640, 50)).toEqual([255, 0, 128]);
    expect(pixel(png, 640, 1500)).toEqual([255, 255, 255]);
    expect(pixel(png, 640, 2950)).toEqual([0, 200, 80]);
  });

  it.each(['/redirect', '/meta-refresh', '/js-redirect'])('follows %s to its target', async (path) => {
    const snapshot = await capture(path);
    expect(snapshot).toMatchObject({ finalUrl: site.url('/short'), cutPhase: null });
    expect(snapshot.title).toContain('A small port');
  });

  it('captures what is there of a page that reloads itself again and again', async () => {
    const snapshot = await capture('/reload-loop', LATE);
    expect(snapshot).toMatchObject({ title: 'A page that cannot rest', width: 1280 });
    expect(snapshot.html).toContain('<h1>Again</h1>');
  });

  it('leaves nothing for the next capture: no cookies, no storage', async () => {
    for (let visit = 0; visit < 2; visit += 1) {
      expect((await capture('/cookie')).title).toBe('cookies: none');
      expect((await capture('/storage')).title).toBe('visits: 1');
    }
  });

  it('cancels a capture by its signal, before and while it runs', async () => {
    expect((await failureOf(capture('/short', {}, AbortSignal.abort()))).code).toBe('cancelled');
    const controller = new AbortController();
    const hits = site.hits('/hang');
    const hanging = failureOf(capture('/hang?cancel', {}, controller.signal));
    await expect.poll(() => site.hits('/hang')).toBeGreaterThan(hits);
    controller.abort();
    expect((await hanging).code).toBe('cancelled');
  });

  it('frees the slot of a capture however the capture ends', async () => {
    await Promise.allSettled([
      capture('/short'),
      capture('/hang', { timeoutMs: 300 }),
      capture('/empty-response'),
      capture('/short', {}, AbortSignal.timeout(50)),
    ]);
    await expect.poll(() => running.actor.stats().busy).toBe(0);
  });
}

function pixel(png: Pixels, x: number, y: number): number[] {
  const at = (y * png.width + x) * 4;
  return [...png.data.subarray(at, at + 3)];
}

export function coloursOf(png: Pixels): Set<number> {
  return new Set(numbersOf(png));
}
