import { useState } from 'preact/hooks';
import { call } from '../../api/client.ts';
import type { CaptureLimits, ServiceStats } from '../../api/types.ts';
import { integer } from '../../parts/format.ts';
import { Problem } from '../../parts/view.tsx';

/** Values of the queue slider, whose range is too large for steps of one. */
const QUEUE_STEPS = [
  0, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000, 100_000, 1_000_000,
];
const MAX_CONCURRENT_SHOWN = 64;

/** The limits of the service. A change is sent when a slider is released, and applies until the service ends. */
export function Limits({ queue }: { readonly queue: ServiceStats['queue'] }) {
  const [draft, setDraft] = useState<Partial<CaptureLimits>>({});
  const [error, setError] = useState<unknown>();
  const concurrent = draft.maxConcurrent ?? queue.max_concurrent;
  const waiting = draft.maxQueue ?? queue.max_queue;
  const apply = async (change: Partial<CaptureLimits>) => {
    setDraft((old) => ({ ...old, ...change }));
    setError(undefined);
    try {
      await call('/limits', { method: 'PATCH', body: change });
    } catch (failure) {
      setError(failure);
      setDraft({});
    }
  };
  return (
    <section class="panel limits">
      <h2>Limits</h2>
      <label class="field">
        <span>
          Running at once: <strong class="number">{integer(concurrent)}</strong>
        </span>
        <input
          type="range"
          min={1}
          max={Math.max(MAX_CONCURRENT_SHOWN, queue.max_concurrent)}
          value={concurrent}
          aria-valuetext={`${concurrent} captures`}
          onInput={(event) => setDraft({ ...draft, maxConcurrent: event.currentTarget.valueAsNumber })}
          onChange={(event) => void apply({ maxConcurrent: event.currentTarget.valueAsNumber })}
        />
      </label>
      <label class="field">
        <span>
          In the queue: <strong class="number">{integer(waiting)}</strong>
        </span>
        <input
          type="range"
          min={0}
          max={QUEUE_STEPS.length - 1}
          value={stepOf(waiting)}
          aria-valuetext={`${waiting} captures`}
          onInput={(event) => setDraft({ ...draft, maxQueue: QUEUE_STEPS[event.currentTarget.valueAsNumber] ?? 0 })}
          onChange={(event) => void apply({ maxQueue: QUEUE_STEPS[event.currentTarget.valueAsNumber] ?? 0 })}
        />
      </label>
      {error !== undefined && <Problem error={error} />}
      <p class="muted">Changes hold until the service ends.</p>
    </section>
  );
}

function stepOf(value: number): number {
  const at = QUEUE_STEPS.findIndex((step) => step >= value);
  return at === -1 ? QUEUE_STEPS.length - 1 : at;
}
