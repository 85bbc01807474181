import { mayCapture } from '../../api/session.ts';
import type { RecentRun, Watch } from '../../api/types.ts';
import { Badge, type Tone, worded } from '../../parts/badge.tsx';
import { DeleteButton } from '../../parts/delete-button.tsx';
import { FeedButton } from '../../parts/feed-button.tsx';
import { ago, counted, dateAndTime, shortUrl } from '../../parts/format.ts';
import { hrefOf } from '../../parts/route.ts';
import { FilmStrip } from './film-strip.tsx';
import { LastValues } from './last-values.tsx';
import { Sparkline } from './sparkline.tsx';
import { WatchTells } from './watch-tells.tsx';

const TONES: Readonly<Record<RecentRun['state'], Tone>> = {
  first: 'plain',
  unchanged: 'good',
  changed: 'warn',
  unconfirmed: 'plain',
  failed: 'bad',
};

interface WatchRowProps {
  readonly watch: Watch;
  /** Maximum number of runs that are shown. */
  readonly maxRuns: number;
  /** Called with the name of a command. */
  readonly onCommand: (name: string) => void;
  readonly onDelete: () => Promise<unknown>;
}

export function WatchRow({ watch, maxRuns, onCommand, onDelete }: WatchRowProps) {
  const { id, url, state, every, schedule, runs, changes, labels, last_run: last, next_run_at: next } = watch;
  const command = (name: string) => () => onCommand(name);
  const isDue = next !== null && Date.parse(next) > Date.now();
  return (
    <article class="panel watch" aria-label={url}>
      <div class="watch-top">
        <div class="watch-about">
          <header>
            <h2 title={url}>{shortUrl(url)}</h2>
            {labels.map((label) => (
              <Badge key={label} tone="plain">
                {label}
              </Badge>
            ))}
            {state === 'paused' && <Badge tone="plain">paused</Badge>}
            {last !== null && (
              <Badge tone={TONES[last.state]} title={last.reason ?? last.changed.join(', ')}>
                {worded(last.verdict !== null && last.state === 'failed' ? last.verdict : last.state)}
              </Badge>
            )}
          </header>
          <p class="muted">
            {every === null ? schedule : `every ${every}`}, {counted(runs, 'run')}, {counted(changes, 'change')}
            {last !== null && <>, last {ago(last.at)}</>}
            {isDue && <>, next {dateAndTime(next)}</>}
          </p>
          <WatchTells watch={watch} />
          {watch.values !== null && <LastValues watch={watch} />}
        </div>
        <Sparkline runs={watch.recent_runs ?? []} max={maxRuns} />
      </div>
      <FilmStrip watch={watch} />
      {mayCapture.value && (
        <div class="watch-buttons">
          <button type="button" class="button" aria-label={`Run now: ${url}`} onClick={command('run')}>
            Run now
          </button>
          {state === 'active' ? (
            <button type="button" class="button" aria-label={`Pause ${url}`} onClick={command('pause')}>
              Pause
            </button>
          ) : (
            <button type="button" class="button" aria-label={`Resume ${url}`} onClick={command('resume')}>
              Resume
            </button>
          )}
          <FeedButton of={{ watch: id }} name={shortUrl(url)} />
          <a class="button" href={hrefOf(`/watches/${id}`)} data-place={id} aria-label={`Change ${url}`}>
            Change
          </a>
          <DeleteButton label={`Delete ${url}`} title="Delete the watch?" onDelete={onDelete}>
            “{shortUrl(url)}” is no longer watched. Its captures are kept.
          </DeleteButton>
        </div>
      )}
    </article>
  );
}
