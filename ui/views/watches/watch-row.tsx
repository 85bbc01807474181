import { useState } from 'preact/hooks';
import type { Watch, WatchRun } from '../../api/types.ts';
import { Badge, type Tone, worded } from '../../parts/badge.tsx';
import { ConfirmDeletion } from '../../parts/confirm-deletion.tsx';
import { ago, dateAndTime, integer, shortUrl } from '../../parts/format.ts';
import { FilmStrip } from './film-strip.tsx';

const TONES: Readonly<Record<WatchRun['state'], Tone>> = {
  first: 'plain',
  unchanged: 'good',
  changed: 'warn',
  unconfirmed: 'plain',
  failed: 'bad',
};

interface WatchRowProps {
  readonly watch: Watch;
  readonly onCommand: (path: string, method: 'POST' | 'DELETE') => void;
}

export function WatchRow({ watch, onCommand }: WatchRowProps) {
  const { id, url, state, every, schedule, runs, changes, labels, last_run: last, next_run_at: next } = watch;
  const [isAsking, setAsking] = useState(false);
  const command = (name: string) => () => onCommand(`/watches/${id}/${name}`, 'POST');
  return (
    <article class="panel watch" aria-label={url}>
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
        {every === null ? schedule : `every ${every}`}, {integer(runs)} runs, {integer(changes)} changes
        {last !== null && <>, last {ago(last.at)}</>}
        {next !== null && <>, next {dateAndTime(next)}</>}
      </p>
      <FilmStrip id={id} revision={runs} />
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
        <button type="button" class="button danger" aria-label={`Delete ${url}`} onClick={() => setAsking(true)}>
          Delete
        </button>
      </div>
      {isAsking && (
        <ConfirmDeletion
          title="Delete the watch?"
          error={undefined}
          onKeep={() => setAsking(false)}
          onDelete={() => onCommand(`/watches/${id}`, 'DELETE')}
        >
          “{shortUrl(url)}” is no longer watched. Its captures are kept.
        </ConfirmDeletion>
      )}
    </article>
  );
}
