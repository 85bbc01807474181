import type { RecentRun } from '../../api/types.ts';
import { counted, dateAndTime } from '../../parts/format.ts';
import { shareOf } from './share.ts';

const HEIGHT = 24;
/** Height of the smallest change, of 1. A change without a share, of words or facts, has it too. */
const MIN_CHANGE = 0.3;

interface SparklineProps {
  /** Newest first. */
  readonly runs: readonly RecentRun[];
  /** Number of places for runs, so that the sparklines of a list have the same scale. */
  readonly max: number;
}

/** A bar for each run; that of a change grows with the cube root of its share. The newest is on the right. */
export function Sparkline({ runs, max }: SparklineProps) {
  return (
    <svg
      class="sparkline"
      viewBox={`0 0 ${max} ${HEIGHT}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={worded(runs)}
    >
      {runs.map((run, at) => {
        const { due, state } = run;
        const height = HEIGHT * heightOf(run);
        return <rect key={due} class={state} x={max - 1 - at + 0.15} y={HEIGHT - height} width={0.7} height={height} />;
      })}
    </svg>
  );
}

/** Returns the height of a bar, of 1. */
function heightOf({ state, share }: RecentRun): number {
  if (state === 'failed') return 1;
  return state === 'changed' ? MIN_CHANGE + (1 - MIN_CHANGE) * Math.cbrt(share ?? 0) : 0.09;
}

/** Says what the bars show. */
function worded(runs: readonly RecentRun[]): string {
  if (runs.length === 0) return 'No runs yet';
  const changed = runs.filter(({ state }) => state === 'changed');
  const failed = runs.filter(({ state }) => state === 'failed').length;
  const [most] = changed.filter(({ share }) => share !== null).toSorted((a, b) => (b.share ?? 0) - (a.share ?? 0));
  const parts = [
    `${changed.length} changed`,
    ...(most?.share == null ? [] : [`the most by ${shareOf(most.share)} on ${dateAndTime(most.at)}`]),
    ...(failed === 0 ? [] : [`${failed} failed`]),
  ];
  return `Newest ${counted(runs.length, 'run')}: ${parts.join(', ')}`;
}
