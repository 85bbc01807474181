import { useLayoutEffect, useRef } from 'preact/hooks';
import { addressOf } from '../../api/address.ts';
import { queryOf } from '../../api/client.ts';
import type { RecentRun, Watch } from '../../api/types.ts';
import { worded } from '../../parts/badge.tsx';
import { ago, dateAndTime } from '../../parts/format.ts';
import { hrefOf } from '../../parts/route.ts';
import { shareOf } from './share.ts';

const WIDTH = 160;
const HEIGHT = 90;

/** The newest runs of a watch, oldest first: screenshots, and below each what changed and when. */
export function FilmStrip({ watch }: { readonly watch: Watch }) {
  const { recent_runs: runs = [] } = watch;
  const strip = useRef<HTMLOListElement>(null);
  // The newest run is at the end.
  useLayoutEffect(() => strip.current?.scrollTo({ left: strip.current.scrollWidth }), [runs[0]?.due]);
  return (
    <ol class="film" ref={strip} aria-label="History">
      {runs.toReversed().map((run) => (
        <li key={run.due} class={run.state}>
          <Frame run={run} watch={watch} />
        </li>
      ))}
    </ol>
  );
}

function Frame({ run, watch }: { readonly run: RecentRun; readonly watch: Watch }) {
  const { state, capture, before, share, changed, at, reason } = run;
  const words = `${worded(state)}, ${dateAndTime(at)}${reason === null ? '' : `: ${reason}`}`;
  const what =
    state !== 'changed' ? worded(state) : share === null || share === 0 ? changed.join(', ') : shareOf(share);
  const caption = (
    <span class="film-caption">
      <span class="film-what number">{what}</span>
      <span class="muted">{ago(at)}</span>
    </span>
  );
  if (capture === null) {
    return (
      <span class="film-frame" title={words}>
        <span class="thumbnail none">no screenshot</span>
        {caption}
      </span>
    );
  }
  const comparison = { a: before ?? '', b: capture, watch: watch.id, ignore: watch.ignore };
  const to = state === 'changed' ? `/compare${queryOf(comparison)}` : `/results/${capture}`;
  return (
    <a class="film-frame" href={hrefOf(to)} data-place={`${watch.id} ${run.due}`} title={words}>
      <img
        src={addressOf(`/screenshot/${capture}${queryOf({ width: WIDTH * 2, height: HEIGHT * 2 })}`)}
        alt=""
        width={WIDTH}
        height={HEIGHT}
        loading="lazy"
      />
      {caption}
    </a>
  );
}
