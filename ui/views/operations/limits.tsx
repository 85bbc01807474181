import { useState } from 'preact/hooks';
import { call } from '../../api/client.ts';
import type { CaptureLimits, ServiceStats } from '../../api/types.ts';
import { integer } from '../../parts/format.ts';
import { useAttempt } from '../../parts/use-attempt.ts';
import { Problem } from '../../parts/view.tsx';

/** Values of the queue slider, whose range is too large for steps of one. */
const QUEUE_STEPS = [
  0, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000, 100_000, 1_000_000,
];
const MAX_CONCURRENT_SHOWN = 64;

/** The limits of the service. A change is sent when a slider is released, and applies until the service ends. */
export function Limits({ queue }: { readonly queue: ServiceStats['queue'] }) {
  const [draft, setDraft] = useState<Partial<CaptureLimits>>({});
  const { error, attempt } = useAttempt();
  const concurrent = draft.maxConcurrent ?? queue.max_concurrent;
  const waiting = draft.maxQueue ?? queue.max_queue;
  const apply = async (change: Partial<CaptureLimits>) => {
    setDraft((old) => ({ ...old, ...change }));
    // Each change is sent, also while another one is.
    if (!(await attempt(() => call('/limits', { method: 'PATCH', body: change }), change))) setDraft({});
  };
  return (
    <section class="panel limits">
      <h2>Limits</h2>
      <Slider
        label="Running at once"
        shown={concurrent}
        min={1}
        max={Math.max(MAX_CONCURRENT_SHOWN, queue.max_concurrent)}
        position={concurrent}
        onMove={(maxConcurrent) => setDraft({ ...draft, maxConcurrent })}
        onRelease={(maxConcurrent) => void apply({ maxConcurrent })}
      />
      <Slider
        label="In the queue"
        shown={waiting}
        min={0}
        max={QUEUE_STEPS.length - 1}
        position={stepOf(waiting)}
        onMove={(step) => setDraft({ ...draft, maxQueue: QUEUE_STEPS[step] ?? 0 })}
        onRelease={(step) => void apply({ maxQueue: QUEUE_STEPS[step] ?? 0 })}
      />
      {error !== undefined && <Problem error={error} />}
      <p class="muted">Changes hold until the service ends.</p>
    </section>
  );
}

interface SliderProps {
  readonly label: string;
  /** Number of captures that is shown. */
  readonly shown: number;
  readonly min: number;
  readonly max: number;
  readonly position: number;
  readonly onMove: (position: number) => void;
  readonly onRelease: (position: number) => void;
}

function Slider({ label, shown, min, max, position, onMove, onRelease }: SliderProps) {
  return (
    <label class="field">
      <span>
        {label}: <strong class="number">{integer(shown)}</strong>
      </span>
      <input
        type="range"
        min={min}
        max={max}
        value={position}
        aria-valuetext={`${shown} captures`}
        onInput={(event) => onMove(event.currentTarget.valueAsNumber)}
        onChange={(event) => onRelease(event.currentTarget.valueAsNumber)}
      />
    </label>
  );
}

function stepOf(value: number): number {
  const at = QUEUE_STEPS.findIndex((step) => step >= value);
  return at === -1 ? QUEUE_STEPS.length - 1 : at;
}
