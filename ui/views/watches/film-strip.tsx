import { useEffect } from 'preact/hooks';
import { queryOf } from '../../api/client.ts';
import type { WatchRun } from '../../api/types.ts';
import { worded } from '../../parts/badge.tsx';
import { dateAndTime } from '../../parts/format.ts';
import { hrefOf } from '../../parts/route.ts';
import { useAnswer } from '../../parts/use-answer.ts';

const MAX_RUNS = 12;
const WIDTH = 160;

interface FilmStripProps {
  readonly id: number;
  /** Changes with every run; the runs are then read again. */
  readonly revision: number;
}

/** The newest runs of a watch, oldest first: pictures, and below each the share that changed. */
export function FilmStrip({ id, revision }: FilmStripProps) {
  const { data: runs = [], reload } = useAnswer<readonly WatchRun[]>(`/watches/${id}/history?limit=${MAX_RUNS}`);
  useEffect(reload, [reload, revision]);
  return (
    <ol class="film">
      {runs.toReversed().map((run) => (
        <li key={run.due} class={run.state}>
          <Frame run={run} />
        </li>
      ))}
    </ol>
  );
}

function Frame({ run }: { readonly run: WatchRun }) {
  const { state, capture, before, share, at, reason } = run;
  const words = `${worded(state)}, ${dateAndTime(at)}${reason === null ? '' : `: ${reason}`}`;
  const height = (WIDTH * 9) / 16;
  const bar = <span class="film-bar" style={{ height: `${Math.ceil(Math.sqrt(share ?? 0) * 24)}px` }} />;
  if (capture === null) {
    return (
      <span class="thumbnail none" title={words} role="img" aria-label={words}>
        {worded(state)}
      </span>
    );
  }
  const to = state === 'changed' ? `/compare${queryOf({ a: before ?? '', b: capture })}` : `/results/${capture}`;
  return (
    <a href={hrefOf(to)} title={words} aria-label={words}>
      <img
        src={`/screenshot/${capture}${queryOf({ width: WIDTH, height })}`}
        alt=""
        width={WIDTH}
        height={height}
        loading="lazy"
      />
      {bar}
    </a>
  );
}
