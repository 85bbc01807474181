import { useEffect, useState } from 'preact/hooks';
import { call, queryOf } from '../../api/client.ts';
import { mayCapture } from '../../api/session.ts';
import type { Job } from '../../api/types.ts';
import { Badge, JOB_TONES } from '../../parts/badge.tsx';
import { CopyAsCurl } from '../../parts/copy-as-curl.tsx';
import { FeedButton } from '../../parts/feed-button.tsx';
import { ago, integer } from '../../parts/format.ts';
import { hrefOf } from '../../parts/route.ts';
import { useAnswer } from '../../parts/use-answer.ts';
import { useAttempt } from '../../parts/use-attempt.ts';
import { Empty, Problem, View } from '../../parts/view.tsx';
import { ScanForm } from './scan-form.tsx';

const PATH = '/jobs?limit=100';
/** Interval at which running scans are read again, in milliseconds. */
const REFRESH_MS = 1_000;

/** The scans of the caller, with their progress, and the form for a new one. */
export function Scans() {
  const { data, error, reload } = useAnswer<readonly Job[]>(PATH);
  // The last answer stays while the list is read again.
  const [jobs, setJobs] = useState(data);
  useEffect(() => {
    if (data !== undefined) setJobs(data);
  }, [data]);
  const { error: failure, attempt } = useAttempt();
  const scans = jobs?.filter(({ kind }) => kind === 'scan');
  const isRunning = scans?.some(({ finished_at: at }) => at === null) === true;
  useEffect(() => {
    if (!isRunning) return;
    const timer = setInterval(reload, REFRESH_MS);
    return () => clearInterval(timer);
  }, [isRunning, reload]);
  const cancel = async (id: string) => {
    await attempt(() => call(`/jobs/${id}`, { method: 'DELETE' }), id);
    reload();
  };
  return (
    <View title="Scans" class="scans" actions={<CopyAsCurl requests={() => [{ path: PATH }]} />}>
      <div class="view-body">
        {mayCapture.value && <ScanForm onStarted={reload} />}
        {error !== undefined && <Problem error={error} retry={reload} />}
        {failure !== undefined && <Problem error={failure} />}
        {scans?.length === 0 && <Empty title="No scans yet" />}
        {scans?.map((job) => (
          <ScanRow key={job.id} job={job} onCancel={() => void cancel(job.id)} />
        ))}
      </div>
    </View>
  );
}

function ScanRow({ job, onCancel }: { readonly job: Job; readonly onCancel: () => void }) {
  const { id, state, progress, created_at: at, error } = job;
  const { done, failed, failed_by: failedBy, total } = progress;
  const reasons = Object.entries(failedBy).map(([code, count]) => `${integer(count)} ${code.replaceAll('_', ' ')}`);
  return (
    <section class="panel scan-row" aria-label={`Scan of ${integer(total)} targets`}>
      <p class="scan-facts">
        <strong class="number">
          {integer(done)} of {integer(total)} done
        </strong>
        <span>{integer(done - failed)} captured</span>
        {failed > 0 && <span>not captured: {reasons.join(', ')}</span>}
        <span class="muted">{ago(at)}</span>
        <Badge tone={JOB_TONES[state]}>{state}</Badge>
      </p>
      <progress max={Math.max(1, total)} value={done} aria-label="Targets done" />
      {error !== null && <p class="error-text">{error}</p>}
      <p class="scan-facts">
        <a class="button" href={hrefOf(`/${queryOf({ scan: id, view: 'alike' })}`)}>
          Captures
        </a>
        <a class="button" href={hrefOf(`/${queryOf({ scan: id, view: 'groups', by: 'technology' })}`)}>
          Groups
        </a>
        <FeedButton of={{ scan: id }} name="this scan" />
        {failed > 0 && <a href={hrefOf(`/${queryOf({ scan: id, outcome: 'failed', view: 'table' })}`)}>Failures</a>}
        {(state === 'queued' || state === 'running') && (
          <button type="button" class="button" onClick={onCancel}>
            Cancel
          </button>
        )}
      </p>
    </section>
  );
}
