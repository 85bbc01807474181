import { describe, expect, it } from 'vitest';
import type { CaptureOptions } from '../../src/capture/request.ts';
import { failureOf } from '../support/actor.ts';
import { type Colour, countOf, pngOf } from '../support/image.ts';
import { siteAndActor } from '../support/site-and-actor.ts';

const BLUE: Colour = [0, 0, 200, 255];
const RED: Colour = [200, 0, 0, 255];
const MASK: Colour = [255, 0, 255, 255];
const STYLE = '<style>* { margin: 0; padding: 0 } #it { background: #0000c8 }</style>';

const { captureHtml } = siteAndActor();

const snapshotOf = (body: string, options: CaptureOptions = {}) =>
  captureHtml(`<!doctype html>${STYLE}${body}`, { selector: '#it', ...options });

const capture = async (body: string, options: CaptureOptions = {}) => {
  const snapshot = await snapshotOf(body, options);
  const png = await pngOf(snapshot);
  return { size: [png.width, png.height], truncatedBy: snapshot.truncatedBy, blue: countOf(png, BLUE) };
};

/** An element of this size. */
const box = (width: number, height: number, style = '') =>
  `<div id=it style="width:${width}px;height:${height}px;${style}"></div>`;
/** A box around it, 100 px wide and 60 px high. */
const around = (style: string, content = box(300, 200)) =>
  `<div style="width:100px;height:60px;${style}">${content}</div>`;
const framed = (style: string, content: string) =>
  `<iframe style="border:0;${style}" srcdoc="${(STYLE + content).replaceAll('"', '&quot;')}"></iframe>`;
const shadow = (tree: string, content = '') =>
  `<x-host><template shadowrootmode=open>${STYLE}${tree}</template>${content}</x-host>`;
const HIDDEN = 'overflow:hidden';
const IN_FRAME = { selector: 'iframe >> #it' };

/** Pages with an element that is cut off, and the size of what is visible. */
const CUT: Readonly<Record<string, readonly [body: string, width: number, height: number, options?: CaptureOptions]>> =
  {
    'hidden overflow': [around(HIDDEN), 100, 60],
    'hidden overflow at the upper left': [around(HIDDEN, box(90, 50, 'transform:translate(-40px,-30px)')), 50, 20],
    'hidden overflow below the window': [`<p style="height:3000px"></p>${around(HIDDEN)}`, 100, 60],
    'overflow: clip': [around('overflow:clip'), 100, 60],
    'overflow clipped downwards alone': [around('overflow-y:clip'), 300, 60],
    'painting that is contained': [around('contain:paint'), 100, 60],
    'clip-path': [`<div style="clip-path:inset(10px 900px 20px 30px)">${box(800, 200)}</div>`, 350, 170],
    'the border of a box': [around(`${HIDDEN};border:20px solid;width:100px`), 100, 60],
    'a box that is scaled': [around(`${HIDDEN};transform:scale(2);transform-origin:0 0`), 200, 120],
    'a box around a box': [
      around(HIDDEN, `<div style="width:200px;height:40px;${HIDDEN}">${box(300, 200)}</div>`),
      100,
      40,
    ],
    'a body that does not scroll': [
      `<style>html, body { ${HIDDEN}; height: 90px; width: 80px }</style>${box(300, 200)}`,
      80,
      90,
    ],
    'an absolute element in its containing block': [
      around(`${HIDDEN};position:relative`, box(300, 200, 'position:absolute')),
      100,
      60,
    ],
    'a fixed element in a transformed box': [
      around(`${HIDDEN};transform:translate(0)`, box(300, 200, 'position:fixed')),
      100,
      60,
    ],
    'an element without a box': [
      around(HIDDEN, `<div id=out style="display:contents">${box(300, 200)}</div>`),
      100,
      60,
      { selector: '#out' },
    ],
    'a shape of a drawing': [
      '<svg width=100 height=60><rect id=it width=300 height=200 fill="#0000c8" /></svg>',
      100,
      60,
    ],
    'a shadow tree': [shadow(around(HIDDEN)), 100, 60],
    'a slot': [shadow(around(HIDDEN, '<slot></slot>'), box(300, 200)), 100, 60],
    'a frame': [
      framed('width:100px;height:60px', `<style>html { ${HIDDEN} }</style>${box(300, 200)}`),
      100,
      60,
      IN_FRAME,
    ],
    'a box in a frame': [framed('width:500px;height:400px', around(HIDDEN)), 100, 60, IN_FRAME],
    'a box around a frame': [around(HIDDEN, framed('width:500px;height:400px', box(300, 200))), 100, 60, IN_FRAME],
    'the edge of the page': [box(300, 200, 'position:absolute;left:-100px;top:-50px'), 200, 150],
    'scripts that are off': [`<p id=away>away</p>${around(HIDDEN)}`, 100, 60, { collapse: ['#away'] }],
  };

/** Pages with an element that is shown whole, although a box around it hides its overflow. */
const WHOLE: Readonly<Record<string, readonly [body: string, options?: CaptureOptions]>> = {
  'a fixed element': [around(HIDDEN, box(300, 200, 'position:fixed'))],
  'an absolute element whose containing block is further out': [around(HIDDEN, box(300, 200, 'position:absolute'))],
  'an element that is cut by a part of a pixel': [
    `<div style="width:299.7px;height:199.8px;${HIDDEN}">${box(300, 200)}</div>`,
  ],
  'an element as wide as the page': [box(300, 200)],
  'an element in a frame': [framed('width:300px;height:200px', box(300, 200)), IN_FRAME],
  'an element in a frame below the window': [
    `<p style="height:3000px"></p>${framed('width:300px;height:200px', box(300, 200))}`,
    IN_FRAME,
  ],
};

describe.concurrent('an element that is cut off', () => {
  it.each(Object.entries(CUT))('is shown as far as it is visible, and truncated: %s', async (_what, page) => {
    const [body, width, height, options] = page;
    const shot = await capture(body, options);
    expect(shot).toEqual({ size: [width, height], truncatedBy: 'container', blue: width * height });
  });

  it.each(Object.entries(WHOLE))('is shown whole when nothing cuts it off: %s', async (_what, [body, options]) => {
    expect(await capture(body, options)).toMatchObject({ size: [300, 200], truncatedBy: '' });
  });

  it.each([
    ['in a closed drawer', `<div style="height:0;${HIDDEN}">${box(300, 200)}</div>`],
    ['beside its box', around(HIDDEN, box(90, 50, 'transform:translate(-200px)'))],
    ['for readers of screens', box(1, 1, 'position:absolute;clip:rect(0,0,0,0)')],
  ])('is not found when nothing of it is visible: %s', async (_what, body) => {
    const error = await failureOf(snapshotOf(body));
    expect(error.code).toBe('selector_not_found');
    expect(error.message).toBe(
      'what matches "#it" is not visible: it is hidden, cut off by what is around it, or has no size',
    );
  });
});

/** Boxes before the one that is visible: all of them match, and nothing of these is seen. */
const PASSED: Readonly<Record<string, readonly [before: string, options?: CaptureOptions]>> = {
  'slides outside of their carousel': [
    `<div style="width:100px;${HIDDEN}"><div style="display:flex;transform:translateX(-600px)">${'<div class=one style="flex:0 0 300px;height:90px"></div>'.repeat(2)}</div></div>`,
  ],
  'a closed drawer': [`<div style="height:0;${HIDDEN}"><div class=one style="height:90px"></div></div>`],
  'for readers of screens': ['<div class=one style="position:absolute;clip:rect(0,0,0,0);width:1px;height:1px"></div>'],
  'left of the page': ['<div class=one style="position:absolute;left:-9999px;width:90px;height:90px"></div>'],
  'above the page': ['<div class=one style="position:absolute;top:-500px;width:90px;height:90px"></div>'],
  'right of a page that does not scroll': [
    '<style>html { overflow: hidden }</style><div class=one style="position:fixed;left:2000px;width:90px;height:90px"></div>',
  ],
  'a shadow tree in a closed drawer': [
    shadow(`<div style="height:0;${HIDDEN}"><slot></slot></div>`, '<div class=one style="height:90px"></div>'),
  ],
  'a frame that is cut off': [
    `<div style="height:0;${HIDDEN}">${framed('width:300px;height:200px', '<div class=one style="height:90px"></div>')}</div>`,
    { selector: 'iframe >> .one' },
  ],
};

describe.concurrent('several elements that match', () => {
  const visible = '<div class=one style="width:120px;height:80px;background:#0000c8"></div>';

  it.each(Object.entries(PASSED))('skips matches of which nothing is visible: %s', async (_what, page) => {
    const [before, options = {}] = page;
    const body = options.selector === undefined ? visible : framed('width:300px;height:200px', visible);
    const shot = await capture(`${before}${body}`, { selector: '.one', ...options });
    expect(shot).toEqual({ size: [120, 80], truncatedBy: '', blue: 120 * 80 });
  });

  it('loads lazy content where the match that is shown is', async () => {
    const beside = '<div class=one style="position:absolute;left:2000px;top:0;width:90px;height:90px"></div>';
    const body = `<style>html { overflow-x: hidden }</style>${beside}<p style="height:5000px"></p>
      <div class=one id=late style="width:120px;height:80px"></div>
      <script>new IntersectionObserver(([{ isIntersecting }]) => {
        if (isIntersecting) late.style.background = '#0000c8';
      }).observe(late)</script>`;
    expect((await capture(body, { selector: '.one' })).blue).toBe(120 * 80);
  });

  it('skips matches of which nothing is visible within a frame', async () => {
    const drawer = `<div style="height:0;${HIDDEN}"><div class=one style="height:90px"></div></div>`;
    const shot = await capture(framed('width:300px;height:200px', drawer + visible), { selector: 'iframe >> .one' });
    expect(shot.blue).toBe(120 * 80);
  });

  it('are looked at up to the hundredth of a document', async () => {
    const drawer = (count: number) =>
      `<div style="height:0;${HIDDEN}">${'<div class=one style="height:9px"></div>'.repeat(count)}</div>${visible}`;
    expect((await capture(drawer(99), { selector: '.one' })).blue).toBe(120 * 80);
    expect((await failureOf(snapshotOf(drawer(100), { selector: '.one' }))).code).toBe('selector_not_found');
  });
});

describe('a mask over an element that is cut off', () => {
  it('covers what is visible of it, and nothing beside it', async () => {
    const page = `${around(HIDDEN)}${around('overflow:auto', box(300, 2000))}<p style="margin-top:1px;width:300px;height:300px;background:#c80000">`;
    const png = await pngOf(await snapshotOf(page, { selector: undefined, mask: ['div > div'] }));
    expect(countOf(png, BLUE)).toBe(0);
    expect(countOf(png, RED)).toBe(300 * 300);
  });

  it('covers none that is not visible at all', async () => {
    const page = `<div style="height:0;${HIDDEN}">${box(300, 200)}</div><p style="width:300px;height:300px;background:#c80000">`;
    expect(countOf(await pngOf(await snapshotOf(page, { selector: undefined, mask: ['#it'] })), RED)).toBe(300 * 300);
  });

  const masked = async (body: string, options: CaptureOptions) =>
    pngOf(await snapshotOf(body, { selector: undefined, mask: ['#it'], ...options }));

  it.each([
    ['of a page with many elements', 30_000, {}],
    ['when the time suffices for a part of the page', 200_000, { timeoutMs: 20_000 }],
  ])('covers all of it in a window that is made higher %s', async (_when, count, options) => {
    const body = `<style>@media (min-height: 1000px) { #out { overflow: visible !important } }</style>
      <div id=out style="width:100px;height:100vh;overflow:auto">${box(100, 2500)}</div><p style="height:3000px"></p>
      <div id=many hidden></div><script>many.innerHTML = '<i></i>'.repeat(${count})</script>`;
    const viewport = { width: 300, height: 200 };
    const png = await masked(body, { fullPage: true, viewport, ...options });
    expect(countOf(png, BLUE)).toBe(0);
    expect(countOf(png, MASK)).toBe(100 * Math.min(2500, png.height));
    expect(png.height).toBeGreaterThan(viewport.height);
  });

  const skipped = `<div style="content-visibility:auto;height:200px">${box(300, 200)}</div>`;

  it('covers what the browser skips in a frame until the window is scrolled to it', async () => {
    const frame = framed('width:300px;height:200px', skipped).replace('<iframe', '<iframe sandbox');
    const png = await masked(`<p style="height:6000px"></p>${frame}`, { fullPage: true, mask: ['iframe >> #it'] });
    expect([countOf(png, BLUE), countOf(png, MASK)]).toEqual([0, 300 * 200]);
  });

  it('covers none of what the browser skips because a scroller cuts it off', async () => {
    const scroller = around('overflow:auto', `<p style="height:200px"></p>${skipped}`);
    const png = await masked(`${scroller}<p style="width:300px;height:600px;background:#c80000">`, {});
    expect(countOf(png, RED)).toBe(300 * 600);
  });
});
