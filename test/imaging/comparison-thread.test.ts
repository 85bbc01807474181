import { tmpdir } from 'node:os';
import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import type { Compared } from '../../src/imaging/comparison/compared.ts';
import { createComparisonThread } from '../../src/imaging/comparison/comparison-thread.ts';

const [WIDTH, HEIGHT, ELEMENTS] = [1280, 512, 6000];

/** Returns a page of marks in colours that the seed chooses. */
async function marks(seed: number, distance: number): Promise<Uint8Array<ArrayBuffer>> {
  const pixels = new Uint32Array(WIDTH * HEIGHT).fill(0xffffffff);
  for (let at = 0; at < pixels.length; at += 1) {
    const [x, y] = [at % WIDTH, Math.floor(at / WIDTH)];
    if (x % distance > 3 || y % distance > 3) continue;
    const mark = Math.floor(x / distance) * 31 + Math.floor(y / distance) * 17 + seed;
    pixels[at] = 0xff000000 | (Math.imul(mark, 0x9e3779b1) >>> 8);
  }
  const raw = { width: WIDTH, height: HEIGHT, channels: 4 as const };
  const png = await sharp(Buffer.from(pixels.buffer), { raw }).png({ compressionLevel: 1 }).toBuffer();
  return new Uint8Array(png);
}

function mapOf(elementOf: (at: number) => object): string {
  const body = { parent: -1, tag: 'body', box: [0, 0, WIDTH, HEIGHT], style: 0 };
  const elements = Array.from({ length: ELEMENTS }, (_, at) => ({ parent: 0, style: 0, ...elementOf(at) }));
  return JSON.stringify({ styles: [{ color: 'red' }], entries: [body, ...elements], partial: false });
}

/** Elements over each other, of which some are only in one of the pages. */
const over = (tag: string) =>
  mapOf((at) => ({
    ...(at % 50 === 0 ? { tag } : { tag: 'p', id: `p${at}` }),
    box: [0, 0, WIDTH - (at % 3) - 1, HEIGHT],
  }));
/** Elements in each other, as deep as pages are mapped, with others in the innermost one. */
const nested = mapOf((at) => ({ parent: Math.min(at, 480), tag: 'p', box: [0, 0, 8, HEIGHT] }));
/** An element that holds all others, in a column at the left. */
const column = mapOf((at) => ({ ...(at === 0 ? { tag: 'nav' } : { parent: 1, tag: 'p' }), box: [0, 0, 8, HEIGHT] }));

const PLACES = Array.from(
  { length: 50 },
  (_, at) => `p${':nth-last-of-type(even):nth-child(n of p)'.repeat(4)}:not(#p${at})`,
);

describe('the thread of comparisons', () => {
  it.each<[pages: string, maps: readonly [string, string], selectors: readonly string[], distance: number]>([
    ['elements over each other by the thousand', [over('u'), over('b')], [], 160],
    ['an ignored element that holds thousands', [column, column], ['nav'], 4],
    ['a selector of elements in others in others', [nested, nested], [`u${' p'.repeat(300)}`], 160],
    ['a selector of elements beside others', [column, column], [`u${' ~ p'.repeat(200)}`], 160],
    ['a selector of what elements hold', [nested, nested], [`p:has(u${' p'.repeat(300)})`], 160],
    ['selectors of places among thousands', [column, column], PLACES, 160],
  ])('compares pages with %s by their elements within its time', async (_pages, maps, selectors, distance) => {
    const compared: Compared = {
      images: [await marks(1, distance), await marks(2, distance)],
      texts: null,
      links: null,
      maps,
      onlyElements: null,
      ignore: { kinds: [], rectangles: [], texts: [], selectors },
      inAnyOrder: false,
      draws: false,
      places: true,
    };
    const { visual, elements, around } = await createComparisonThread(async () => tmpdir()).compare(compared);
    expect(visual?.regions.length).toBeGreaterThan(0);
    expect(elements).not.toBeNull();
    expect(around.length).toBeGreaterThan(0);
  });
});
