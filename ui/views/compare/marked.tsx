import { addressOf } from '../../api/address.ts';
import type { Box, Comparison, DetailedResult } from '../../api/types.ts';
import { Mark } from '../../parts/mark.tsx';

export type Region = Comparison['regions'][number];
export type Side = 'from' | 'to';

export const KINDS: Readonly<Record<Region['kind'], string>> = {
  inserted: 'Inserted',
  removed: 'Removed',
  moved: 'Moved',
  edited: 'Edited',
};

interface MarkedProps {
  readonly result: DetailedResult;
  readonly regions: readonly Region[];
  readonly side: Side;
  readonly name: string;
  readonly ignored: readonly Box[];
  /** Places of the entry under the pointer in the lists. */
  readonly lit: readonly Box[];
}

/** One of both images, with the regions that differ, what is ignored, and what is pointed at. */
export function Marked({ result, regions, side, name, ignored, lit }: MarkedProps) {
  const { screenshot, width, height } = result;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable with the keyboard
    <section class="panel canvas" tabIndex={0} aria-label={`${name}, with what changed, scrollable`}>
      <div class="compare-layers">
        <img src={addressOf(screenshot)} width={width} height={height} alt={name} />
        {ignored.map((box, at) => (
          <Mark key={at} box={box} image={result} class="mark-ignored" title="Ignored" />
        ))}
        {regions.map(({ kind, ...places }, at) => {
          const box = places[side];
          if (box === null) return null;
          return <Mark key={at} box={box} image={result} class={`region region-${kind}`} title={KINDS[kind]} />;
        })}
        {lit.map((box, at) => (
          <Mark key={at} box={box} image={result} class="mark-lit" isRevealed={at === 0} />
        ))}
      </div>
    </section>
  );
}
