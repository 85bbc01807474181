import { describe, expect, it } from 'vitest';
import { comparePixels } from '../../src/imaging/comparison/compare-pixels.ts';
import type { Pixels } from '../../src/imaging/comparison/pixels.ts';

const WHITE = 0xffffffff;

/** An image of which each row has the shade that is given for it, with a white margin. */
function rowsOf(shades: readonly number[], width = 200): Pixels {
  const data = new Uint32Array(width * shades.length).fill(WHITE);
  for (const [row, shade] of shades.entries()) {
    data.fill((0xff000000 | (shade * 0x010101)) >>> 0, row * width + 20, (row + 1) * width - 20);
  }
  return { data, width, height: shades.length };
}

const rise = (from: number, count: number) => Array.from({ length: count }, (_, at) => from + at);

describe('comparePixels', () => {
  it('leaves out a row that repeats its neighbour, as boxes at fractional positions have it', () => {
    const before = rowsOf([...rise(0, 60), 60, ...rise(61, 60)]);
    const after = rowsOf([...rise(0, 60), 60, 60, ...rise(61, 60)]);
    expect(comparePixels(before, after)).toEqual({ regions: [], truncated: false, changed_pixels: 0, share: 0 });
    const line = rowsOf([...rise(0, 60), 200, 60, ...rise(61, 60)]);
    expect(comparePixels(before, line).regions).toMatchObject([{ kind: 'inserted', to: { y: 60, height: 1 } }]);
  });

  it('finds rows that came back at another place moved, within the margin of the page', () => {
    const before = rowsOf([...rise(0, 30), ...rise(100, 20), ...rise(40, 40)]);
    const after = rowsOf([...rise(0, 30), ...rise(40, 40), ...rise(100, 20)]);
    expect(comparePixels(before, after)).toMatchObject({
      regions: [{ kind: 'moved', from: { y: 30, height: 20 }, to: { y: 70, height: 20 } }],
      share: 0,
    });
  });

  it('finds rows removed whose neighbours were aligned from both sides', () => {
    const before = rowsOf([...rise(0, 40), ...rise(150, 10), ...rise(40, 30)]);
    const after = rowsOf([...rise(0, 30), ...rise(40, 30)]);
    const { regions } = comparePixels(before, after);
    expect(regions).toMatchObject([{ kind: 'removed', from: { y: 30, height: 20 }, to: null }]);
  });

  it('compares images of which no row is equal, and of one colour', () => {
    const [dark, light] = [rowsOf(rise(0, 100)), rowsOf(rise(120, 100))];
    expect(comparePixels(dark, light).regions).toMatchObject([
      { kind: 'edited', to: { x: 20, y: 0, width: 160, height: 100 } },
    ]);
    const [short, tall] = [
      rowsOf(Array.from({ length: 50 }, () => 255)),
      rowsOf(Array.from({ length: 90 }, () => 255)),
    ];
    expect(comparePixels(short, tall).regions).toMatchObject([{ kind: 'inserted', to: { height: 40 } }]);
  });
});
