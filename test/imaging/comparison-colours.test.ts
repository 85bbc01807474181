import { readFile } from 'node:fs/promises';
import { differenceCiede2000 } from 'culori';
import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { type Box, ComparisonSchema } from '../../src/capture/comparison/comparison.ts';
import { comparePixels } from '../../src/imaging/comparison/compare-pixels.ts';
import { decode } from '../../src/imaging/comparison/decode.ts';
import { recolouredAreas } from '../../src/imaging/comparison/recoloured-areas.ts';
import { Rows } from '../../src/imaging/comparison/rows.ts';
import { serviceForSuite } from '../support/for-suite.ts';

const Answer = z.object({ data: ComparisonSchema });
const Captured = z.object({ data: z.object({ id: z.number() }) });
const ROW =
  /^\| (?<system>[^|]+) \| (?<what>[^|]+) \| `(?<before>#[\da-f]{6})` \| `(?<after>#[\da-f]{6})` \| (?<distance>[\d.]+) \|$/gm;
const Pair = z.object({ before: z.string(), after: z.string(), distance: z.coerce.number() });

const page = await readFile(new URL('../../docs/comparison-colours.md', import.meta.url), 'utf8');
const PAIRS = [...page.matchAll(ROW)].map(({ groups }) => Pair.parse(groups));

const [WIDTH, HEIGHT, GAP, COLUMNS] = [300, 80, 60, 3];

function boxAt(index: number): Box {
  return {
    x: GAP + (index % COLUMNS) * (WIDTH + GAP),
    y: GAP + Math.floor(index / COLUMNS) * (HEIGHT + GAP),
    width: WIDTH,
    height: HEIGHT,
  };
}

/** A page of boxes in these styles, as tall as they need. */
function boxes(styles: readonly string[], text = ''): string {
  const parts = styles.map((style, index) => {
    const { x, y } = boxAt(index);
    // With text and without, in turn.
    return `<button style="left:${x}px;top:${y}px;${style}">${index % 2 === 0 ? '' : text}</button>`;
  });
  const height = boxAt(styles.length + COLUMNS - 1).y;
  return `<!doctype html><style>
    body { margin: 0; height: ${height}px; background: #808080 }
    button { position: absolute; box-sizing: border-box; width: ${WIDTH}px; height: ${HEIGHT}px; border: 0; padding: 0; font: 16px sans-serif }
  </style>${parts.join('')}`;
}

const onWhite = (html = '') => `${html}<style>body { background: #fff }</style>`;
const isNear = ({ x, y, width, height }: Box, other: Box) =>
  other.x >= x - 20 &&
  other.y >= y - 20 &&
  other.x + other.width <= x + width + 20 &&
  other.y + other.height <= y + height + 40;
const RULE = 'background:linear-gradient(#ddd,#ddd) 0 50%/100% 1px no-repeat #fff';
/** Of the shadows, borders and backgrounds of Tailwind CSS 3 and Bootstrap 5.3. */
const THIN = [
  ['', 'box-shadow:0 1px 2px rgb(0 0 0/.05)'],
  ['', 'box-shadow:0 1px 3px rgb(0 0 0/.1)'],
  ['', 'box-shadow:0 4px 6px -1px rgb(0 0 0/.1)'],
  ['', 'box-shadow:0 .125rem .25rem rgb(0 0 0/.075)'],
  ['', 'border:1px solid #e5e7eb'],
  ['', 'border:1px solid #f3f4f6'],
  ['border:1px solid #e5e7eb', 'border:1px solid #d1d5db'],
  ['border:2px solid #fff', 'border:2px solid #eef'],
  ['border:2px solid #fde2e2', 'border:2px solid #e2fde2'],
  ['border:2px solid #ddd', 'border:2px solid #ccc'],
  ['', 'background:linear-gradient(#eee,#eee) 0 100%/100% 2px no-repeat #fff'],
  ['', 'background:linear-gradient(#e5e7eb,#e5e7eb) 0 0/4px 100% no-repeat #fff'],
  ['', 'background:repeating-linear-gradient(#fff 0 4px,#f3f4f6 4px 8px)'],
  ['', 'background:repeating-linear-gradient(90deg,#fff 0 4px,#eee 4px 8px)'],
] as const;

const TEXT = `<!doctype html><body style="margin:0;padding:40px;width:700px;font:16px/24px sans-serif">
  ${'<p>All about harbours, lighthouses, tides, ropes and splices, and of what is told of them.</p>'.repeat(12)}`;
const GRADIENT = '<div style="height:400px;background:linear-gradient(135deg,#0d6efd,#f8d7da 60%,#212529)"></div>';

describe('colours that comparisons tell apart', () => {
  const app = serviceForSuite();

  async function capture(html: string, options = {}): Promise<number> {
    const response = await app.post('/screenshot', { html, fullPage: true, ...options });
    expect(response.status).toBe(200);
    return Captured.parse(await response.json()).data.id;
  }
  async function imageOf(html: string): Promise<Buffer> {
    const response = await app.call(`/screenshot/${await capture(html)}`);
    return Buffer.from(await response.arrayBuffer());
  }
  async function regionsOf(before: string, after: string, options = {}) {
    const [a, b] = [await capture(before, options), await capture(after, options)];
    const response = await app.call(`/compare?a=${a}&b=${b}`);
    return Answer.parse(await response.json()).data.regions;
  }
  const pixelsOf = async (file: Buffer) => {
    const pixels = await decode(new Uint8Array(file), null, () => {});
    if (!(pixels?.rows.source instanceof Uint32Array)) throw new Error('the image is too large');
    return { data: pixels.rows.source, width: pixels.width };
  };
  async function recolouredIn(one: Buffer, other: Buffer): Promise<number> {
    const [a, b] = [await pixelsOf(one), await pixelsOf(other)];
    const found = new Set<number>();
    recolouredAreas(a.data, b.data, a.width, (at) => found.add(at));
    return found.size;
  }

  it('has 40 pairs of colours at the distances of the table', () => {
    expect(PAIRS).toHaveLength(40);
    const distance = differenceCiede2000();
    for (const { before, after, distance: stated } of PAIRS) {
      expect(distance(before, after), `${before} ${after}`).toBeCloseTo(stated, 1);
    }
  });

  it.each([{ elementMap: false }, { elementMap: true }])(
    'reports each pair as one region, with %o',
    async (options) => {
      const painted = (side: 'before' | 'after') =>
        boxes(
          PAIRS.map((pair) => `background:${pair[side]};color:#777`),
          'Save changes',
        );
      const regions = await regionsOf(painted('before'), painted('after'), options);
      const wanted = PAIRS.map((_, index) => ({ kind: 'edited', from: boxAt(index), to: boxAt(index) }));
      expect(regions.map(({ kind, from, to }) => ({ kind, from, to }))).toEqual(wanted);
    },
  );

  it.each([
    ['a small button', 'width:16px;height:16px;background:#0000ff', 'width:16px;height:16px;background:#0000c8'],
    ['a gradient', 'background:linear-gradient(#0d6efd,#0b5ed7)', 'background:linear-gradient(#0b5ed7,#0a58ca)'],
    ['a button with round corners', 'border-radius:12px;background:#198754', 'border-radius:12px;background:#157347'],
    ['a disabled button', 'background:#0d6efd', 'background:#0d6efd;opacity:.9'],
  ])('reports %s as one region', async (_, before, after) => {
    const regions = await regionsOf(boxes([before]), boxes([after]), { elementMap: false });
    const { x, y } = boxAt(0);
    expect(regions).toMatchObject([{ kind: 'edited', to: { x, y } }]);
  });

  it.each([{ elementMap: false }, { elementMap: true }])(
    'reports borders, shadows and stripes that appear or change, with %o',
    async (options) => {
      const [before, after] = [0, 1].map((side) => boxes(THIN.map((pair) => `background:#fff;${pair[side]}`)));
      const regions = await regionsOf(onWhite(before), onWhite(after), options);
      const found = THIN.map((_, index) => regions.filter(({ to }) => to !== null && isNear(boxAt(index), to)).length);
      expect(found.map((count) => count > 0)).toEqual(THIN.map(() => true));
      expect(found.reduce((sum, count) => sum + count)).toBe(regions.length);
    },
  );

  it('reports a line of one pixel that appears between two colours', async () => {
    const [before, after] = ['', '#cbd5e1 30px 31px,'].map((line) =>
      onWhite(boxes([`background:linear-gradient(#fff 30px,${line}#e5e7eb 30px)`])),
    );
    const { x, y } = boxAt(0);
    const regions = await regionsOf(before ?? '', after ?? '');
    expect(regions.map(({ to }) => to)).toEqual([{ x, y: y + 30, width: WIDTH, height: 1 }]);
  });

  it('reports nothing for boxes and lines at another fraction of a pixel', async () => {
    const drawn = ['background:#dde', 'background:#dde;border:1px solid #e5e7eb', `${RULE}`, `${RULE};height:100px`];
    const moved = drawn.map((style, index) => `${style};transform:translate(0.${index + 2}px,0.${index + 3}px)`);
    const layers = (styles: readonly string[]) =>
      onWhite(boxes(styles.map((style) => `${style};will-change:transform`)));
    expect(await regionsOf(layers(drawn), layers(moved))).toEqual([]);
  });

  it('reports nothing for lines of a chart at another fraction of a pixel', async () => {
    const moves = [0, 0.1, 0.7].flatMap((from) => [0.3, 0.5].map((by) => [from, from + by] as const));
    const lines = moves.flatMap((move) => [1.5, 1.6, 1.8, 2].map((thickness) => ({ move, thickness })));
    const chart = (side: 0 | 1) => {
      const paths = lines.map(({ move, thickness }, index) => {
        const top = 20 * (index + 1) + move[side];
        return `<path d="M0 ${top + thickness / 2}h300" stroke-width="${thickness}"/>`;
      });
      return onWhite(`<!doctype html><svg width="400" height="520" stroke="#d0d0d0">${paths.join('')}</svg>`);
    };
    expect(await regionsOf(chart(0), chart(1))).toEqual([]);
  });

  it('finds a recoloured block that also moved', async () => {
    const at = (top: string, colour: string) =>
      `${boxes([])}${top}<p style="margin:100px">Tides</p><div style="height:80px;background:${colour}">Harbours</div>`;
    const banner = '<div style="height:40px;background:#124"></div>';
    const regions = await regionsOf(at('', '#ffffff'), at(banner, '#f8f9fa'));
    expect(regions.map(({ kind, to }) => [kind, to?.height])).toEqual([
      ['inserted', 40],
      ['edited', 80],
    ]);
  });

  it('reports nothing for changes that nobody sees', async () => {
    const nearly = [
      ['#000000', '#020202'],
      ['#ffffff', '#fdfdfd'],
      ['#0d6efd', '#0f6ffb'],
      ['#111111', '#131011'],
    ] as const;
    const styled = (side: 0 | 1) => boxes(nearly.map((pair) => `background:${pair[side]}`));
    expect(await regionsOf(styled(0), styled(1))).toEqual([]);
  });

  it('finds no area in text at another fraction of a pixel', async () => {
    const still = await imageOf(TEXT);
    for (const offset of [0.2, 0.33, 0.5, 0.75]) {
      const shifted = await imageOf(
        `${TEXT}<style>p { position: relative; left: ${offset}px; top: ${offset}px }</style>`,
      );
      expect(await recolouredIn(still, shifted)).toBe(0);
    }
  });

  it('finds no area in the noise of JPEG and WebP', async () => {
    const png = await imageOf(`${TEXT}${GRADIENT}`);
    const jpeg = (quality: number) => sharp(png).jpeg({ quality }).toBuffer();
    for (const quality of [60, 75, 80, 90, 95]) {
      expect(await recolouredIn(png, await jpeg(quality)), `JPEG at ${quality}`).toBe(0);
    }
    for (const [one, other] of [
      [90, 80],
      [80, 75],
      [75, 70],
    ] as const) {
      expect(await recolouredIn(await jpeg(one), await jpeg(other)), `JPEG at ${one} and ${other}`).toBe(0);
    }
    expect(await recolouredIn(png, await sharp(png).webp({ quality: 80 }).toBuffer())).toBe(0);
  });

  it('finds an area across the strips that are compared at once', () => {
    const image = (colour: number) => {
      const data = new Uint32Array(100 * 1024).fill(0xff808080);
      for (let row = 506; row < 518; row += 1) data.fill(colour, row * 100 + 20, row * 100 + 60);
      return { rows: new Rows(100, 1024, data), width: 100, height: 1024, isExact: true };
    };
    // Rows at both ends differ, so that all of them are compared.
    const [before, after] = [image(0xffffffff), image(0xfffaf9f8)];
    for (const row of [0, 1023]) after.rows.row(row).fill(0xff000000);
    const { regions } = comparePixels(before, after);
    expect(regions).toContainEqual(
      expect.objectContaining({ kind: 'edited', to: { x: 20, y: 506, width: 40, height: 12 }, pixels: 40 * 12 }),
    );
  });
});
