import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { CaptureOptions } from '../../src/capture/request.ts';
import { HIDDEN } from '../fixtures/hidden-text.ts';
import { patience } from '../support/actor.ts';
import { htmlRequest } from '../support/capture-request.ts';
import { actorForSuite } from '../support/for-suite.ts';
import { placeOf, pngOf } from '../support/image.ts';

const RED = [200, 0, 0] as const;
const SIDES = ['x', 'y', 'width', 'height'] as const;

const Links = z.object({
  links: z.array(
    z.object({
      href: z.string(),
      text: z.string(),
      rel: z.string(),
      internal: z.boolean(),
      box: z.object({ x: z.number(), y: z.number(), width: z.number(), height: z.number() }).nullable(),
    }),
  ),
  omitted: z.number(),
});

const running = actorForSuite();

const Blocks = z.object({ blocks: z.array(z.object({ start: z.number(), box: Links.shape.links.element.shape.box })) });

async function linksOf(html: string, options: CaptureOptions = {}) {
  const snapshot = await running.actor.capture(
    htmlRequest(html, { outputs: ['links'], elementMap: false, ...options }),
    patience,
  );
  return { snapshot, ...Links.parse(JSON.parse(String(snapshot.outputs.links?.content))) };
}

/** A page of 1200 by 2048 px with a red link far down; its words fill the box. */
const FAR = `<!doctype html><body style="margin:0;height:2048px;width:1200px;font:20px/1 monospace">
  <a id=near href="/near" style="position:absolute;left:40px;top:30px">Near</a>
  <a id=far href="/far" style="position:absolute;left:300px;top:1500px;background:rgb(200,0,0);color:#fff">WWWWWWWW</a>`;

describe('the output links', () => {
  it('has the address, words and kind of each painted link', async () => {
    const { links } = await linksOf(`<!doctype html><base href="https://harbour.example/a/">
      <a href="../tides" rel="nofollow">Tide <b>tables</b><i> of</i> <u>May</u></a> <a href="mailto:a@b.example">Mail</a>
      <a href="javascript:alert(1)">Script</a> <a href="http://html.invalid/in">In</a> <a name=anchor>None</a>
      <a href="/image"><img src="data:image/gif;base64,R0lGODlhAQABAAAAACwAAAAAAQABAAA=" width=30 height=20></a>
      <a href="/hidden" style="display:none">Hidden</a><a href="/white" style="color:#fff">White</a>`);
    expect(links.map(({ box: _box, ...link }) => link)).toEqual([
      { href: 'https://harbour.example/tides', text: 'Tide tables of May', rel: 'nofollow', internal: false },
      { href: 'mailto:a@b.example', text: 'Mail', rel: '', internal: false },
      { href: 'javascript:alert(1)', text: 'Script', rel: '', internal: false },
      { href: 'http://html.invalid/in', text: 'In', rel: '', internal: true },
      { href: 'https://harbour.example/image', text: '', rel: '', internal: false },
    ]);
    expect(links.at(-1)?.box).toMatchObject({ width: 30, height: 20 });
  });

  it.each<[string, CaptureOptions]>([
    ['a full page', { fullPage: true }],
    ['a full page of two pixels for each CSS pixel', { fullPage: true, viewport: { deviceScaleFactor: 2 } }],
    ['a full page of 1.5 pixels for each CSS pixel', { fullPage: true, viewport: { deviceScaleFactor: 1.5 } }],
    ['a full page that is scaled down', { fullPage: true, resize: { width: 600 } }],
    ['the window after scrolling', { actions: [{ type: 'scroll', y: 1200 }] }],
    ['a rectangle', { clip: { x: 200, y: 1400, width: 700, height: 300 } }],
    [
      'a rectangle of two pixels',
      { clip: { x: 211, y: 1403, width: 700, height: 300 }, viewport: { deviceScaleFactor: 2 } },
    ],
    ['an element', { selector: '#far' }],
    ['a phone', { device: 'iPhone 15', fullPage: true }],
    ['the window of a phone', { device: 'iPhone 15', javascript: { after: 'scrollTo(200, 1300)' } }],
    ['a narrow window', { viewport: { width: 500, height: 400 }, fullPage: true }],
  ])('places a link where its words are in %s', async (_what, options) => {
    const { snapshot, links } = await linksOf(FAR, options);
    const place = placeOf(await pngOf(snapshot), RED, 60);
    const box = links.find(({ text }) => text === 'WWWWWWWW')?.box;
    expect(place).not.toBeNull();
    for (const side of SIDES) {
      const allowed = side === 'x' || side === 'width' ? 2 : 8 * (options.viewport?.deviceScaleFactor ?? 3);
      expect(Math.abs((box?.[side] ?? Number.NaN) - (place?.[side] ?? 0)), side).toBeLessThanOrEqual(allowed);
    }
  });

  const HEADER =
    '<header style="position:fixed;top:0;left:0;right:0;height:50px;background:#fff"><a href=/home>Home</a></header>';
  const RED_LINK =
    '<a id=far href="/far" style="background:rgb(200,0,0);color:#fff;font:20px/1 monospace">WWWWWWWW</a>';
  const AT = (top: number) => `<p style="position:absolute;top:${top}px;left:130px;margin:0">${RED_LINK}</p>`;

  /** The page is scrolled through in few steps. */
  const HIGH = { width: 500, height: 2_000, deviceScaleFactor: 1 };

  it.each<[string, string, CaptureOptions]>([
    ['a page in bands', `<body style="height:18000px">${AT(17_000)}`, { fullPage: true, viewport: HIGH }],
    [
      'a page in bands, with a fixed header',
      `<body style="height:18000px">${HEADER}${AT(17_000)}`,
      { fullPage: true, viewport: HIGH },
    ],
    [
      'a page in bands of two pixels',
      `<body style="height:9500px">${HEADER}${AT(9_000)}`,
      { fullPage: true, viewport: { width: 500, height: 400, deviceScaleFactor: 2 } },
    ],
    [
      'a page whose sections are as high as the window',
      `<body>${HEADER}${'<div style="height:100vh"></div>'.repeat(3)}${RED_LINK}`,
      { fullPage: true },
    ],
    [
      'a page that was scrolled, with a fixed header',
      `<body style="height:5000px">${HEADER}${AT(3_000)}`,
      { fullPage: true, actions: [{ type: 'scroll', y: 2_500 }] },
    ],
    [
      'an element that scrolls the page',
      `<body style="margin:0"><main style="height:100vh;overflow:auto"><div style="height:2500px"></div>${RED_LINK}<div style="height:900px"></div></main>`,
      { fullPage: true },
    ],
  ])('places a link, and its block of the Markdown, where the words are in %s', async (_what, body, options) => {
    const { snapshot, links } = await linksOf(`<!doctype html>${body}`, {
      viewport: { width: 500, height: 400, deviceScaleFactor: 1 },
      outputs: ['links', 'markdown', 'blocks'],
      markdown: { scope: 'page' },
      ...options,
    });
    const place = placeOf(await pngOf(snapshot), RED, 60);
    const start = String(snapshot.outputs.markdown?.content).indexOf('[WWWWWWWW]');
    const { blocks } = Blocks.parse(JSON.parse(String(snapshot.outputs.blocks?.content)));
    const boxes = [
      links.find(({ text }) => text === 'WWWWWWWW')?.box,
      blocks.find((block) => block.start === start)?.box,
    ];
    const scale = options.viewport?.deviceScaleFactor ?? 1;
    expect(place).not.toBeNull();
    for (const [side, box] of SIDES.flatMap((side) => boxes.map((box) => [side, box] as const))) {
      const allowed = (side === 'x' || side === 'width' ? 2 : 8) * scale;
      expect(Math.abs((box?.[side] ?? Number.NaN) - (place?.[side] ?? 0)), side).toBeLessThanOrEqual(allowed);
    }
  });

  it('places a link of a frame, and one of a right-to-left page', async () => {
    const link = '<a href=/x style="background:rgb(200,0,0);color:#fff;font:20px/1 monospace">WWWW</a>';
    const pages = [
      `<div style="height:900px"></div><iframe style="margin-left:70px;border:9px solid" srcdoc='<p style="margin:50px">${link}'></iframe>`,
      `<html dir=rtl><body style="width:3000px;height:900px"><p style="margin:800px 20px">${link}`,
    ];
    for (const page of pages) {
      const { snapshot, links } = await linksOf(`<!doctype html>${page}`, { fullPage: true });
      const place = placeOf(await pngOf(snapshot), RED, 60);
      expect(Math.abs((links[0]?.box?.x ?? Number.NaN) - (place?.x ?? 0))).toBeLessThanOrEqual(2);
      expect(Math.abs((links[0]?.box?.y ?? Number.NaN) - (place?.y ?? 0))).toBeLessThanOrEqual(8);
    }
  });

  it('has no box for a link that the image does not show, or in a PDF', async () => {
    const window = await linksOf(FAR);
    expect(window.links.map(({ text, box }) => [text, box !== null])).toEqual([
      ['Near', true],
      ['WWWWWWWW', false],
    ]);
    expect((await linksOf(FAR, { format: 'pdf' })).links.map(({ box }) => box)).toEqual([null, null]);
  });

  it('leaves out a link whose words are hidden, in any of the ways', async () => {
    const ways = Object.entries(HIDDEN).filter(([way]) => !/characters|details|slot|frame/.test(way));
    const parts = ways.map(([way, part]) => `<div><a href="/${encodeURIComponent(way)}">${part}</a></div>`).join('');
    const { links } = await linksOf(`<!doctype html>${parts}<a href="/seen">Seen</a>`);
    expect(links.map(({ text }) => text).filter((text) => /ignore/i.test(text))).toEqual([]);
    expect(links.at(-1)?.text).toBe('Seen');
  });
});
