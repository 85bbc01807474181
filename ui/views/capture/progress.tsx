import { BROWSER_PHASES } from '../../../src/capture/phases.ts';
import { addressOf } from '../../api/address.ts';
import { CapstanFailure } from '../../api/client.ts';
import type { DetailedResult, InFlight } from '../../api/types.ts';
import { OutcomeBadge } from '../../parts/badge.tsx';
import { duration, pageName } from '../../parts/format.ts';
import { hrefOf } from '../../parts/route.ts';
import type { Run } from '../../parts/use-capture.ts';
import { Problem } from '../../parts/view.tsx';

const PHASES: readonly InFlight['phase'][] = BROWSER_PHASES;

/** Progress of the capture: its place in the queue, its phases, its image. */
export function Progress({ run, onCancel }: { readonly run: Run; readonly onCancel: () => void }) {
  return (
    <section class={`panel capture-run ${run.state}`} aria-label="Progress" aria-live="polite">
      {run.state === 'idle' && <p class="muted">The capture appears here.</p>}
      {run.state === 'running' && (
        <>
          <Steps progress={run.progress} />
          <button type="button" class="button" onClick={onCancel}>
            Cancel
          </button>
        </>
      )}
      {run.state === 'stored' && <Stored result={run.result} />}
      {run.state === 'failed' && <Failed error={run.error} />}
    </section>
  );
}

function Steps({ progress }: { readonly progress: InFlight | undefined }) {
  if (progress === undefined) return <p>Sent. Waiting for the service …</p>;
  const { state, position, phase, waited_ms: waited, running_ms: running } = progress;
  if (state === 'queued') {
    return (
      <p>
        <strong>{phase === 'dial' ? 'Connecting to the target' : `In the queue: place ${position}`}</strong>{' '}
        <span class="muted">since {duration(waited)}</span>
      </p>
    );
  }
  const at = PHASES.indexOf(phase);
  return (
    <>
      <p>
        <strong>Running</strong> <span class="muted number">since {duration(running)}</span>
      </p>
      <ol class="steps">
        {PHASES.map((name, index) => (
          <li key={name} class={index < at ? 'done' : ''} aria-current={index === at ? 'step' : undefined}>
            {name}
          </li>
        ))}
      </ol>
    </>
  );
}

function Stored({ result }: { readonly result: DetailedResult }) {
  const { id, url, title, screenshot, format, duration_ms: ms, width, height } = result;
  return (
    <>
      <p class="capture-done">
        <strong>{pageName(result)}</strong>
        <OutcomeBadge result={result} />
        <span class="muted number">{duration(ms)}</span>
      </p>
      {format !== 'pdf' && (
        <a class="capture-image" href={hrefOf(`/results/${id}`)}>
          <img src={addressOf(screenshot)} width={width} height={height} alt={`Screenshot of ${title || url}`} />
        </a>
      )}
      <a class="button primary" href={hrefOf(`/results/${id}`)}>
        Open the capture
      </a>
    </>
  );
}

function Failed({ error }: { readonly error: unknown }) {
  const id = error instanceof CapstanFailure ? error.recordId : undefined;
  return (
    <>
      <Problem error={error} />
      {id !== undefined && (
        <a class="button" href={hrefOf(`/results/${id}`)}>
          Open the record of the failure
        </a>
      )}
    </>
  );
}
