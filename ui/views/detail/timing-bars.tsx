import type { DetailedResult } from '../../api/types.ts';
import { duration } from '../../parts/format.ts';

/** The phases of a capture in order. Each bar starts where the previous one ends. */
export function TimingBars({ timings }: { readonly timings: DetailedResult['timings'] }) {
  const phases = Object.entries(timings).filter((entry): entry is [string, number] => entry[1] !== undefined);
  const total = phases.reduce((sum, [, ms]) => sum + ms, 0);
  if (total === 0) return <p class="muted">No phase was entered.</p>;
  let start = 0;
  return (
    <ul class="timings">
      {phases.map(([phase, ms]) => {
        const style = { left: `${(start / total) * 100}%`, width: `${Math.max(0.6, (ms / total) * 100)}%` };
        start += ms;
        return (
          <li key={phase}>
            <span>{phase}</span>
            <span class="bar-track" aria-hidden="true">
              <span class="bar" style={style} />
            </span>
            <span class="number">{duration(ms)}</span>
          </li>
        );
      })}
    </ul>
  );
}
