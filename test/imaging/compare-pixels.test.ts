import { describe, expect, it } from 'vitest';
import type { Box, RegionKind } from '../../src/capture/comparison/comparison.ts';
import { comparePixels } from '../../src/imaging/comparison/compare-pixels.ts';
import type { Pixels } from '../../src/imaging/comparison/pixels.ts';
import { Rows } from '../../src/imaging/comparison/rows.ts';

const WHITE = 0xffffffff;

/** An image of which each row has the shade that is given for it, with a white margin. */
function rowsOf(shades: readonly number[], width = 200): Pixels {
  const data = new Uint32Array(width * shades.length).fill(WHITE);
  for (const [row, shade] of shades.entries()) {
    data.fill((0xff000000 | (shade * 0x010101)) >>> 0, row * width + 20, (row + 1) * width - 20);
  }
  return { rows: new Rows(width, shades.length, data), width, height: shades.length, isExact: true };
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

  it('counts no pixel of an ignored rectangle, in either image, and no region of an ignored kind', () => {
    const before = rowsOf([...rise(0, 30), ...rise(100, 20), ...rise(40, 40)]);
    const without = rowsOf([...rise(0, 30), ...rise(40, 40)]);
    const ignoring = (rectangles: readonly Box[], kinds: readonly RegionKind[] = []) => ({
      rectangles,
      kinds,
      texts: [],
      selectors: [],
    });
    const place = { x: 20, y: 30, width: 160, height: 20 };
    const removed = comparePixels(before, without, ignoring([{ ...place, width: 80 }]));
    expect(removed).toMatchObject({ regions: [{ kind: 'removed', from: place, pixels: 80 * 20 }] });
    const two = ignoring([place, { ...place, x: 0, width: 200 }]);
    for (const ignore of [two, ignoring([], ['removed'])]) {
      expect(comparePixels(before, without, ignore)).toMatchObject({ regions: [], share: 0, changed_pixels: 0 });
    }
    const other = rowsOf([...rise(0, 30), ...rise(130, 20), ...rise(40, 40)]);
    expect(comparePixels(before, other).regions).toMatchObject([{ kind: 'edited', to: place }]);
    expect(comparePixels(before, other, ignoring([place])).regions).toEqual([]);
    expect(comparePixels(before, other, ignoring([{ ...place, height: 15 }])).regions).toMatchObject([
      { kind: 'edited', to: { x: 20, y: 45, width: 160, height: 5 } },
    ]);
    const swapped = rowsOf([...rise(0, 30), ...rise(40, 40), ...rise(100, 20)]);
    expect(comparePixels(before, swapped, ignoring([], ['moved'])).regions).toEqual([]);
    expect(comparePixels(before, swapped, ignoring([{ ...place, y: 70 }])).regions).toEqual([]);
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
