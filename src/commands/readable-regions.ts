import type { Box, Region } from '../capture/comparison/comparison.ts';

/** Returns a line for each region: `inserted 1280x60+0+0`. */
export function readableRegions(regions: readonly Pick<Region, 'kind' | 'from' | 'to'>[]): readonly string[] {
  return regions.map(({ kind, from, to }) => {
    const places = [from, to].filter((box) => box !== null).map(placeOf);
    return `${kind} ${[...new Set(places)].join(' to ')}`;
  });
}

function placeOf({ x, y, width, height }: Box): string {
  return `${width}x${height}+${x}+${y}`;
}
