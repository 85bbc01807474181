import { useEffect, useState } from 'preact/hooks';
import { type Answer, call, queryOf } from '../../api/client.ts';
import type { InFlight, Job } from '../../api/types.ts';
import { Badge, JOB_TONES } from '../../parts/badge.tsx';
import { ago, duration, integer, shortUrl } from '../../parts/format.ts';
import { asNamed, SelectField } from '../../parts/select.tsx';
import { useAttempt } from '../../parts/use-attempt.ts';
import { Problem } from '../../parts/view.tsx';
import type { Metrics } from './metrics.ts';

const MAX_SHOWN = 20;

interface WorkProps {
  readonly batches: Metrics['batches'];
  /** Changes with every sample; the lists are then read again. */
  readonly revision: number;
}

/** Current work: captures in flight, jobs and batches. */
export function Work({ batches, revision }: WorkProps) {
  const [flights, setFlights] = useState<Answer<readonly InFlight[]>>();
  const [node, setNode] = useState('');
  const [jobs, setJobs] = useState<readonly Job[]>([]);
  const { error, attempt } = useAttempt();
  useEffect(() => {
    const abort = new AbortController();
    const { signal } = abort;
    const wanted = queryOf({ limit: MAX_SHOWN, node });
    call<readonly InFlight[]>(`/captures${wanted}`, { signal }).then(setFlights, ignore);
    // Without a database there are no jobs.
    call<readonly Job[]>(`/jobs?limit=${MAX_SHOWN}`, { signal }).then(({ data }) => setJobs(data), ignore);
    return () => abort.abort();
  }, [revision, node]);
  const cancel = (id: string) =>
    attempt(async () => {
      const { data } = await call<Job>(`/jobs/${id}`, { method: 'DELETE' });
      setJobs((old) => old.map((job) => (job.id === id ? data : job)));
    }, id);
  return (
    <div class="work">
      <section class="panel">
        <h2>Captures in flight</h2>
        <Flights flights={flights?.data ?? []} missing={flights?.message ?? ''} node={node} onNode={setNode} />
      </section>
      <section class="panel">
        <h2>Jobs</h2>
        {error !== undefined && <Problem error={error} />}
        {jobs.length === 0 ? <p class="muted">None.</p> : <Jobs jobs={jobs} onCancel={(id) => void cancel(id)} />}
      </section>
      <section class="panel">
        <h2>Batches</h2>
        {batches.length === 0 ? (
          <p class="muted">None since this page was opened.</p>
        ) : (
          <ul class="progress-list">
            {batches.map(({ id, size, done, failed, isCompleted }) => (
              <li key={id}>
                <span class="number progress-id">{id.slice(0, 8)}</span>
                <Bar label={`Batch ${id.slice(0, 8)}`} done={done} failed={failed} total={size} />
                <Badge tone={isCompleted ? 'good' : 'warn'}>{isCompleted ? 'completed' : 'running'}</Badge>
              </li>
            ))}
          </ul>
        )}
      </section>
    </div>
  );
}

function ignore(): void {
  // The next sample tries again, and its own failure is shown.
}

interface FlightsProps {
  readonly flights: readonly InFlight[];
  readonly missing: string;
  /** The api node whose captures are shown; `''` for all. */
  readonly node: string;
  readonly onNode: (node: string) => void;
}

function Flights({ flights, missing, node, onNode }: FlightsProps) {
  const known = [...new Set([node, ...flights.map(({ node: of }) => of ?? '')])].filter((name) => name !== '');
  return (
    <>
      {known.length > 0 && (
        <SelectField
          label="Api node"
          value={node}
          options={[['', 'All'], ...asNamed(known.toSorted())]}
          onChange={onNode}
        />
      )}
      {missing !== '' && <p class="notice warn">{missing}</p>}
      {flights.length === 0 ? <p class="muted">None.</p> : <FlightList flights={flights} />}
    </>
  );
}

function FlightList({ flights }: { readonly flights: readonly InFlight[] }) {
  return (
    <ul class="progress-list">
      {flights.map(({ id, url, node, state, position, phase, waited_ms: waited, running_ms: running }) => (
        <li key={id} title={node === null ? undefined : `api node ${node}`}>
          <span class="progress-url" title={url}>
            {shortUrl(url)}
          </span>
          <span class="muted number">{duration(state === 'queued' ? waited : running)}</span>
          <Badge tone={state === 'queued' ? 'plain' : 'good'}>
            {phase ?? (state === 'queued' ? `queue ${position}` : 'running')}
          </Badge>
        </li>
      ))}
    </ul>
  );
}

function Jobs({ jobs, onCancel }: { readonly jobs: readonly Job[]; readonly onCancel: (id: string) => void }) {
  return (
    <ul class="progress-list">
      {jobs.map(({ id, kind, state, progress, created_at: at }) => (
        <li key={id}>
          <span class="progress-id">
            {kind} <span class="muted">{ago(at)}</span>
          </span>
          <Bar label={`Job ${id}`} {...progress} />
          <Badge tone={JOB_TONES[state]}>{state}</Badge>
          {(state === 'queued' || state === 'running') && (
            <button type="button" class="button" aria-label={`Cancel job ${id}`} onClick={() => onCancel(id)}>
              Cancel
            </button>
          )}
        </li>
      ))}
    </ul>
  );
}

interface BarProps {
  readonly label: string;
  readonly done: number;
  readonly failed: number;
  readonly total: number;
}

function Bar({ label, done, failed, total }: BarProps) {
  return (
    <span class="progress-bar">
      <progress aria-label={label} value={done} max={Math.max(1, total)} />
      <span class="muted number">
        {integer(done)} of {integer(total)}
        {failed > 0 ? `, ${integer(failed)} failed` : ''}
      </span>
    </span>
  );
}
