import { describe, expect, it } from 'vitest';
import type { CaptureOptions } from '../../src/capture/request.ts';
import { type Colour, colourAt, countOf, type Pixels, pngOf } from '../support/image.ts';
import { IN_NARROW_WINDOW, NARROW, siteAndActor } from '../support/site-and-actor.ts';

const TEAL: Colour = [17, 68, 85, 255];
const HEADER: Colour = [200, 0, 0, 255];
const WHITE: Colour = [255, 255, 255, 255];
const WIDTH = NARROW.width;
/** The right edge, where no text is. */
const EDGE = WIDTH - 10;

describe.concurrent('what is fixed behind a page', () => {
  const ground = siteAndActor(IN_NARROW_WINDOW);

  const capture = async (html: string, options: CaptureOptions = { fullPage: true }) => {
    const snapshot = await ground.captureHtml(html, options);
    return { snapshot, png: await pngOf(snapshot) };
  };

  it.each(Object.entries(BACKDROPS))('is behind all of a full page: %s', async (_what, html) => {
    const { snapshot, png } = await capture(html);
    expect(snapshot).toMatchObject({ height: 3240, fullHeight: 3240, truncated: false, cutPhase: null });
    expect(edgesOf(png)).toEqual([TEAL]);
    const window = await capture(html, { fullPage: false });
    expect(rows(png, 0, 720).equals(rows(window.png, 0, 720))).toBe(true);
  });

  it.each(Object.entries(BACKDROPS))(
    'is behind an element and a rectangle below the window: %s',
    async (_what, html) => {
      expect(edgesOf((await capture(html, { selector: '#four' })).png)).toEqual([TEAL]);
      expect(edgesOf((await capture(html, { clip: { x: 0, y: 1000, width: WIDTH, height: 900 } })).png)).toEqual([
        TEAL,
      ]);
    },
  );

  it.each([
    ['generated content', backdrop(AS_PSEUDO, HIGH)],
    ['an image in an element', backdrop('', IMAGE + HIGH)],
  ])('is behind all of a page of 40,000 pixels: %s', async (_what, html) => {
    const { snapshot, png } = await capture(html);
    expect(snapshot).toMatchObject({ truncated: false, cutPhase: null });
    expect(png.height).toBeGreaterThan(39_000);
    expect(edgesOf(png)).toEqual([TEAL]);
  });

  it.each(Object.entries(COVERS))(
    'fills a section as it does when the page is scrolled there: %s',
    async (_what, html) => {
      const { png } = await capture(html);
      const { png: second } = await capture(html, { selector: '.cover.second' });
      for (const y of [590, 1000, 1600, 2010]) expect([y, colourAt(png, EDGE, y)]).toEqual([y, TEAL]);
      for (const y of [5, 215, 425]) expect([y, colourAt(second, EDGE, y)]).toEqual([y, TEAL]);
      expect(colourAt(second, WIDTH / 2, 215)).toEqual(YELLOW);
      expect(rows(png, 1590, 2020).equals(rows(second, 0, 430))).toBe(true);
      for (const y of [570, 1020, 1580, 2030]) expect([y, colourAt(png, EDGE, y)]).toEqual([y, WHITE]);
    },
  );

  it.each([
    ['two windows high above the rest', '<div class=cover style="height: 1440px"></div><p></p><p></p>', 0, 1440, 2736],
    ['higher than what is above it', '<p style="height: 500px"></p><div class=cover></div>', 500, 1220, 1220],
  ])(
    'keeps each row at its place next to a section with a fixed background: %s',
    async (_what, body, from, to, end) => {
      const { png } = await capture(page(`.cover { height: 720px } ${PICTURE}`, body));
      expect(png.height).toBe(end);
      for (let y = 0; y < end; y += 1) {
        expect([y, colourAt(png, EDGE, y)]).toEqual([y, y >= from && y < to ? TEAL : WHITE]);
      }
    },
  );

  it.each([
    ['over the page by no z-index', 'height: 300px; z-index: 0', 300],
    ['by a negative z-index', 'height: 300px; z-index: -1', 300],
    ['as high as the window', 'height: 100vh; z-index: -1', 720],
  ])('shows a footer that the end of the page reveals once, and whole: %s', async (_what, css, height) => {
    for (const high of [1400, 1500]) {
      const { png } = await capture(revealing(css, high, height));
      expect(png.height).toBe(high + height);
      expect(countOf(png, HEADER)).toBe(WIDTH * 100);
      expect(colourAt(png, EDGE, high - 1)).toEqual(WHITE);
      for (const y of [high, high + 99]) expect([y, colourAt(png, EDGE, y)]).toEqual([y, HEADER]);
      for (const y of [high + 100, high + height - 1]) expect([y, colourAt(png, EDGE, y)]).toEqual([y, TEAL]);
    }
  });

  it('fills a section in which it is shown only while the section is in the window', async () => {
    const { png } = await capture(SHOWN_IN_WINDOW);
    for (const y of [590, 1000, 1600, 2010]) expect([y, colourAt(png, EDGE, y)]).toEqual([y, TEAL]);
    for (const y of [570, 1020, 1580, 2030]) expect([y, colourAt(png, EDGE, y)]).toEqual([y, WHITE]);
    const clip = { x: 0, y: 1590, width: WIDTH, height: 430 };
    for (const options of [{ selector: '.cover.second' }, { clip }]) {
      const part = (await capture(SHOWN_IN_WINDOW, options)).png;
      expect(edgesOf(part)).toEqual([TEAL]);
      expect(rows(part, 0, 430).equals(rows(png, 1590, 2020))).toBe(true);
    }
  });

  it('leaves a fixed header and a fixed footer where they are at the top of the page', async () => {
    const bars = `<div style="position: fixed; inset: 0 0 auto; z-index: 1; height: 40px; background: rgb(200, 0, 0)"></div>
      <div style="position: fixed; inset: auto 0 0; z-index: 1; height: 160px; background: rgb(200, 0, 0)"></div>`;
    for (const html of [backdrop(AS_PSEUDO, bars), covers(PICTURE, bars)]) {
      const { png } = await capture(html);
      expect(countOf(png, HEADER)).toBe(WIDTH * 200);
      expect([colourAt(png, EDGE, 20), colourAt(png, EDGE, 570)]).toEqual([HEADER, HEADER]);
    }
  });

  it('leaves the texts of fixed and sticky elements in the outputs', async () => {
    const bars = '<nav style="position: fixed; top: 0">Menu</nav><nav style="position: sticky; top: 0">Contents</nav>';
    const { snapshot } = await capture(backdrop(AS_PSEUDO, bars), { fullPage: true, outputs: ['text'] });
    expect(String(snapshot.outputs.text?.content)).toMatch(/Menu.*Contents.*five/s);
  });

  it('keeps the rows whole with fractional scales', async () => {
    const viewport = { width: WIDTH, height: 701, deviceScaleFactor: 1.5 };
    const { snapshot, png } = await capture(BACKDROPS['generated content'], { fullPage: true, viewport });
    expect([png.width, png.height]).toEqual([1.5 * WIDTH, snapshot.fullHeight]);
    // The window ends in the middle of the last row.
    expect(edgesOf({ ...png, height: png.height - 1 })).toEqual([TEAL]);
  });

  it('shows layers of a page with perspective where they are in the window, and further down in their sections', async () => {
    const { png } = await capture(PERSPECTIVE);
    expect(png.height).toBe(720 + 700 + 720 + 700);
    for (const y of [5, 360, 715]) expect([y, colourAt(png, EDGE, y)]).toEqual([y, TEAL]);
    for (const y of [725, 1415]) expect([y, colourAt(png, EDGE, y)]).toEqual([y, WHITE]);
    for (const y of [1425, 1780, 2135]) expect([y, colourAt(png, EDGE, y)]).toEqual([y, YELLOW]);
    for (const y of [2145, 2800]) expect([y, colourAt(png, EDGE, y)]).toEqual([y, WHITE]);
  });
});

const YELLOW: Colour = [255, 187, 51, 255];

const SECTIONS = '<p>one</p><p>two</p><p>three</p><p id=four>four</p><p>five</p>';
const page = (css: string, body: string) =>
  `<!doctype html><html lang=en><meta charset=utf-8><title>Fixed</title><style>body { margin: 0; color: #eee } p { height: 648px; margin: 0 }
    ${css}</style>${body}`;
const backdrop = (css: string, more = '') => page(css, `${more}<main>${SECTIONS}</main>`);

const AS_PSEUDO = 'body::before { content: ""; position: fixed; inset: 0; z-index: -1; background: rgb(17, 68, 85) }';
const FILLED = 'position: fixed; inset: 0; z-index: -1; background: rgb(17, 68, 85)';

const PICTURED = `<img alt="" style="object-fit: cover" src="data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg'
  viewBox='0 0 16 9'><rect width='16' height='9' fill='%23145'/></svg>">`;
const IMAGE = `<div style="position: fixed; inset: 0; z-index: -1">${PICTURED.replace('style="', 'style="width: 100%; height: 100%; ')}</div>`;
const HIGH = '<p style="height: 37000px">high';

/**
 * A page with a footer of this height, behind a text and its heading of 100 pixels, that a margin of the text reveals.
 */
const revealing = (css: string, high: number, height: number) =>
  page(
    `main { position: relative; z-index: 1; background: #fff; height: ${high}px; margin-bottom: ${height}px }
      footer { position: fixed; inset: auto 0 0; background: rgb(17, 68, 85); ${css} }
      h2 { margin: 0; height: 100px; background: rgb(200, 0, 0) }`,
    '<main>Text</main><footer><h2></h2></footer>',
  );

/** Pages of 3240 pixels with one colour behind them. */
const BACKDROPS = {
  'generated content': backdrop(AS_PSEUDO),
  'generated content of a wrapper': backdrop(AS_PSEUDO.replace('body', 'main')),
  'an element': backdrop('', `<div style="${FILLED}"></div>`),
  'an element without pointer events': backdrop('', `<div style="${FILLED}; pointer-events: none"></div>`),
  'an element of the size of the window': backdrop(
    '',
    `<div style="${FILLED}; inset: auto; top: 0; width: 100vw; height: 100vh"></div>`,
  ),
  'an image in an element': backdrop('', IMAGE),
  'an image in an element without a size': backdrop(
    'div { position: fixed; top: 0; left: 0; z-index: -1 } img { position: absolute; width: 100vw; height: 100vh }',
    `<div>${PICTURED}</div>`,
  ),
  'a shape at the edge of the window': backdrop('', `<div style="${FILLED}; left: 60%; pointer-events: none"></div>`),
  'a canvas': backdrop(
    'canvas { position: fixed; top: 0; left: 0; z-index: -1 }',
    `<canvas></canvas><script>const canvas = document.querySelector('canvas'); canvas.width = innerWidth;
      canvas.height = innerHeight; const drawing = canvas.getContext('2d'); drawing.fillStyle = 'rgb(17, 68, 85)';
      drawing.fillRect(0, 0, innerWidth, innerHeight)</script>`,
  ),
  'an element in a shadow tree': backdrop(
    '',
    `<div><template shadowrootmode=open><div style="${FILLED}"></div></template></div>`,
  ),
  'a gradient of the body': backdrop(
    'body { background: linear-gradient(rgb(17, 68, 85), rgb(17, 68, 85)) 0 0 / 100% 100% no-repeat fixed }',
  ),
  'a gradient of a wrapper': backdrop(
    'main { background: linear-gradient(rgb(17, 68, 85), rgb(17, 68, 85)) center / cover no-repeat fixed }',
  ),
};

const SVG = `"data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 1600 900'><rect width='1600'
  height='900' fill='%23145'/><circle fill='%23fb3' cx='800' cy='450' r='50'/></svg>"`.replaceAll(/\n\s*/g, ' ');
const PICTURE = `.cover { background: url(${SVG}) 50% 50% / cover no-repeat fixed }`;

/** Two sections of 430 pixels, at 580 and 1590, in a page of 2600 pixels. */
const covers = (css: string, more = '', inside = '') =>
  page(
    `section { height: 580px } .cover { position: relative; height: 430px } ${css}`,
    `${more}<section></section><div class=cover>${inside}</div><section></section>
      <div class="cover second">${inside}</div><section></section>`,
  );

const COVERS = {
  'a background': covers(PICTURE),
  'a background of generated content': covers(
    `.cover::before { content: ""; position: absolute; inset: 0; background: url(${SVG}) 50% 50% / cover no-repeat fixed }`,
  ),
  'a child of a clipped section': covers(
    `.cover { clip-path: inset(0) } .cover div { position: fixed; inset: 0; background: url(${SVG}) 50% 50% / cover }`,
    '',
    '<div></div>',
  ),
  'generated content of a clipped section': covers(
    `.cover { clip-path: inset(0) } .cover::after { content: ""; position: fixed; inset: 0; background: url(${SVG}) 50% / cover }`,
  ),
};

const SHOWN_IN_WINDOW = covers(
  `.cover { clip-path: inset(0) } .cover div { position: fixed; inset: 0; background: url(${SVG}) 50% 50% / cover }`,
  '',
  `<div></div><script>{ const section = document.currentScript.parentElement; const child = section.querySelector('div');
    const show = () => { const { top, bottom, height } = section.getBoundingClientRect();
      child.style.opacity = Math.max(0, 1 - (Math.max(0, -top) || Math.max(0, bottom - innerHeight)) / height) };
    show(); addEventListener('scroll', () => requestAnimationFrame(show)) }</script>`,
);

const LAYER = 'position: absolute; inset: 0; transform: translateZ(-2px) scale(2)';
const GROUP = 'position: relative; height: 100vh; transform-style: preserve-3d';
const PERSPECTIVE = page(
  `.wrap { height: 100vh; overflow: hidden auto; perspective: 2px } .text { background: #fff; height: 700px; position: relative; z-index: 1 }`,
  `<div class=wrap><div style="${GROUP}"><div style="${LAYER}; background: rgb(17, 68, 85)"></div></div><div class=text></div>
    <div style="${GROUP}"><div style="${LAYER}; background: rgb(255, 187, 51)"></div></div><div class=text></div></div>`,
);

/** The colours at the right edge. */
function edgesOf(png: Pixels): Colour[] {
  const seen = new Map<string, Colour>();
  for (let y = 0; y < png.height; y += 1) {
    const colour = colourAt(png, png.width - 10, y);
    seen.set(colour.join(), colour);
  }
  return [...seen.values()];
}

/** The pixels of these rows. */
function rows({ data, width }: Pixels, from: number, to: number): Buffer {
  const channels = 4;
  return Buffer.from(data.subarray(from * width * channels, to * width * channels));
}
