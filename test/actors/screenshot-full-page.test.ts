import { createServer } from 'node:http';
import { describe, expect, it } from 'vitest';
import type { CaptureOptions } from '../../src/capture/request.ts';
import { listening } from '../egress/listening.ts';
import { patience } from '../support/actor.ts';
import { captureRequest, htmlRequest, LATE } from '../support/capture-request.ts';
import { type Colour, colourAt, countOf, pngOf } from '../support/image.ts';
import { NARROW, siteAndActor } from '../support/site-and-actor.ts';

const HEADER: Colour = [200, 0, 0, 255];
const GREEN: Colour = [0, 160, 0, 255];
const BLUE: Colour = [0, 0, 200, 255];
const WHITE: Colour = [255, 255, 255, 255];
/** Options for pages that are followed far down: the higher the window, the fewer steps it takes to scroll them. */
const HIGH = { viewport: { width: 320, height: 2_000 } };

describe('a full page', () => {
  const ground = siteAndActor({ viewport: NARROW });

  const capture = (path: string, overrides: CaptureOptions = {}) =>
    ground.capture(path, { fullPage: true, ...overrides });

  it('shows content that loads only when it is scrolled into view, and a sticky header once, unfolded', async () => {
    const snapshot = await capture('/picture/lazy');
    expect(snapshot).toMatchObject({ height: 6760, fullHeight: 6760, truncated: false, cutPhase: null });
    const png = await pngOf(snapshot);
    // One image is late and has loading=lazy; the source of the other is set by a script.
    expect(colourAt(png, 100, 4610)).not.toEqual(WHITE);
    expect(colourAt(png, 100, 6710)).not.toEqual(WHITE);
    expect(colourAt(png, 100, 4710)).toEqual(GREEN);
    // The browser neither draws nor measures this content outside its window.
    expect(colourAt(png, 100, 6650)).toEqual(BLUE);
    expect(countOf(png, HEADER)).toBe(NARROW.width * 60);
    expect(colourAt(png, NARROW.width / 2, 30)).toEqual(HEADER);
    expect(snapshot.html).toContain('class="watched seen"');
    expect(snapshot.html).toContain('class="skipped"');
  });

  it('shows what the browser skips outside of its window in shadow trees', async () => {
    const shadow = (content: string) => `<x-host><template shadowrootmode=open>${content}</template></x-host>`;
    const rows = '<div><p></p></div>'.repeat(10);
    const style = `<style>* { margin: 0 } x-host { display: block } div { content-visibility: auto; contain-intrinsic-size: 1px }
      p { height: 500px; background: rgb(0, 0, 200) }</style>`;
    const html = `<!doctype html>${style}${shadow(`${style}${rows}${shadow(style + rows)}`)}`;
    const request = htmlRequest(html, { fullPage: true, viewport: { width: 320, height: 400 } });
    const png = await pngOf(await ground.running.actor.capture(request, patience));
    expect([png.height, countOf(png, BLUE)]).toEqual([10_000, 320 * 10_000]);
  });

  it.each(['/late/gallery?count=20', '/late/throttled?ms=1'])('shows all lazy images of %s', async (path) => {
    expect(countOf(await pngOf(await capture(path)), GREEN)).toBe(20 * 200 * 100);
  });

  it('shows all of a page that grows when it is scrolled to its end', async () => {
    const snapshot = await capture('/picture/growing?parts=8');
    expect(snapshot).toMatchObject({ height: 4000, fullHeight: 4000, truncated: false, cutPhase: null });
  });

  it('shows all of a page that grows just after its load', async () => {
    const snapshot = await capture('/late/grows');
    expect(snapshot).toMatchObject({ title: 'tall', height: 3720, fullHeight: 3720, truncated: false });
    expect(colourAt(await pngOf(snapshot), 100, 3700)).toEqual(GREEN);
  });

  // The captures that wait longest start first.
  it.concurrent('reports a partial capture when images never arrive', async () => {
    const snapshot = await capture('/picture/never-all', LATE);
    expect(snapshot).toMatchObject({ cutPhase: 'settle', height: 1500, truncated: false });
  });

  it.concurrent('shows what is there when a script never ends', async () => {
    const snapshot = await capture('/loop?ms=11000', LATE);
    expect(snapshot).toMatchObject({ cutPhase: 'settle', title: 'A page that spins', height: 720 });
  });

  it.concurrent.each(['settled', 'load'] as const)(
    'shows all of a page that grows slowly, with waitUntil %s',
    async (waitUntil) => {
      const snapshot = await capture('/late/endless?parts=6', { waitUntil });
      expect(snapshot).toMatchObject({ height: 3000, fullHeight: 3000, truncated: false, cutPhase: null });
    },
  );

  it.concurrent('follows an endless page down to 30,000 px, and names its growth as the cause of what is missing', async () => {
    const snapshot = await capture('/picture/growing?px=3000', { ...HIGH, format: 'jpeg' });
    expect(snapshot).toMatchObject({ height: 30_000, truncatedBy: 'growth', truncated: true, cutPhase: null });
    expect(snapshot.fullHeight).toBeGreaterThanOrEqual(30_000);
    expect(snapshot.fullHeight).toBeLessThan(37_000);
  });

  // One of them is above the height down to which a page is followed without it.
  it.concurrent.each([8_000, 32_000])('follows an endless page down to a maxHeight of %i px', async (maxHeight) => {
    const snapshot = await capture('/picture/growing?px=3000', { ...HIGH, maxHeight });
    expect(snapshot).toMatchObject({ height: maxHeight, truncatedBy: 'maxHeight', cutPhase: null });
    expect(snapshot.fullHeight).toBeLessThan(maxHeight + 7_000);
  });

  it('returns a partial capture of what was ready when the screenshot takes longer than the deadline', async () => {
    const snapshot = await capture('/late/rows?rows=1000&unseen=220000', { ...LATE, ...HIGH });
    expect(snapshot).toMatchObject({ title: 'Rows', truncated: true, cutPhase: expect.any(String) });
    const png = await pngOf(snapshot);
    expect([png.width, png.height]).toEqual([snapshot.width, snapshot.height]);
    expect(snapshot.height).toBeGreaterThanOrEqual(HIGH.viewport.height);
  });

  it('returns an image no taller than a short page at the deadline, truncated only if rows are missing', async () => {
    const { height, truncated, cutPhase } = await capture('/late/rows?rows=100&height=1500&unseen=220000', LATE);
    expect(cutPhase).not.toBeNull();
    expect(height).toBeLessThanOrEqual(1500);
    expect(truncated).toBe(height < 1500);
  });

  it('neither scrolls a page that is no taller than the window nor waits for it', async () => {
    const pages: string[] = [];
    const server = createServer((request, response) => {
      pages.push(request.url ?? '');
      response.setHeader('content-type', 'text/html');
      response.end("<body style='margin:0'><script>onscroll = () => fetch('/scrolled')</script>short");
    });
    await using at = await listening(server);
    const request = captureRequest(`http://127.0.0.1:${at.port}/`, { fullPage: true });
    const snapshot = await ground.running.actor.capture(request, patience);
    expect(snapshot).toMatchObject({ width: 1280, height: 720, fullHeight: 720, truncated: false, cutPhase: null });
    expect(snapshot.timings).not.toHaveProperty('wait');
    expect(pages).not.toContain('/scrolled');
  });

  it('shows what depends on the width of the window as the window does, also with transitions', async () => {
    const html = `<!doctype html><style>
      body { margin: 0; height: 3000px } .menu { height: 60px; background: rgb(200,0,0); transition: height 20s }
      @media (max-width: 980px) { .menu { height: 300px; transition: none } }
    </style><div class=menu></div><div id=host></div><script>
      host.attachShadow({ mode: 'open' }).innerHTML = document.querySelector('style').outerHTML + '<div class=menu></div>';
    </script>`;
    for (const fullPage of [false, true]) {
      const snapshot = await ground.running.actor.capture(htmlRequest(html, { fullPage }), patience);
      expect(countOf(await pngOf(snapshot), HEADER)).toBe(1280 * 120);
    }
  });

  it('keeps the width of the window when the page prevents horizontal scrolling', async () => {
    expect(await capture('/picture/parts')).toMatchObject({ width: NARROW.width, height: 2400 });
  });

  it('waits for fonts', async () => {
    expect((await capture('/picture/late-font', { fullPage: false })).title).toBe('The font was waited for');
  });
});
