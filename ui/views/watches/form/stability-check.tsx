import { useEffect, useRef, useState } from 'preact/hooks';
import { call } from '../../../api/client.ts';
import type { Stability } from '../../../api/types.ts';
import { Badge, worded } from '../../../parts/badge.tsx';
import { ofSelector } from '../../../parts/ignore-places.ts';
import { useAttempt } from '../../../parts/use-attempt.ts';
import { Problem } from '../../../parts/view.tsx';

interface StabilityCheckProps {
  /** The capture that is checked: a body of `POST /screenshot`. */
  readonly body: object;
  readonly isReady: boolean;
  readonly ignored: readonly string[];
  readonly onPoint: (each: string | undefined) => void;
  readonly onIgnore: (proposed: readonly string[]) => void;
  /** Called with a capture of the check. */
  readonly onCapture: (id: number) => void;
}

/** Asks the service which elements look different each time, and proposes to ignore them. */
export function StabilityCheck({ body, isReady, ignored, onPoint, onIgnore, onCapture }: StabilityCheckProps) {
  const [found, setFound] = useState<Stability>();
  const { error, isRunning, attempt } = useAttempt();
  const abort = useRef<AbortController | undefined>(undefined);
  useEffect(() => () => abort.current?.abort(), []);
  const check = () =>
    attempt(async () => {
      abort.current = new AbortController();
      const { signal } = abort.current;
      const { data } = await call<Stability>('/captures/stability', { method: 'POST', body, signal });
      setFound(data);
      const [first] = data.captures;
      if (first !== undefined) onCapture(first.id);
    });
  const proposed = found?.ignore.filter((each) => !ignored.includes(each)) ?? [];
  return (
    <section class="stability" aria-label="What differs each time">
      <div class="stability-head">
        {isRunning ? (
          <button type="button" class="button" onClick={() => abort.current?.abort()}>
            Cancel the check
          </button>
        ) : (
          <button type="button" class="button" disabled={!isReady} onClick={() => void check()}>
            Find what differs each time
          </button>
        )}
        {proposed.length > 0 && (
          <button type="button" class="button primary" onClick={() => onIgnore(proposed)}>
            Ignore {proposed.length === 1 ? 'it' : `all ${proposed.length}`}
          </button>
        )}
      </div>
      <p class="muted" role="status">
        {isRunning
          ? 'The page is captured 11 times, with the clock, random numbers and timing varied. This takes 10 s longer than a capture.'
          : found?.stable === true
            ? 'The page looks the same each time.'
            : ''}
      </p>
      {error !== undefined && <Problem error={error} />}
      {found !== undefined && found.unstable.length > 0 && (
        <ul class="unstable">
          {found.unstable.map(({ selector, cause }) => {
            const each = ofSelector(selector);
            return (
              <li key={selector} onMouseEnter={() => onPoint(each)} onMouseLeave={() => onPoint(undefined)}>
                <Badge tone="warn">{worded(cause)}</Badge>
                <code>{selector}</code>
                {ignored.includes(each) ? (
                  <span class="muted">ignored</span>
                ) : (
                  <button
                    type="button"
                    class="button quiet"
                    aria-label={`Ignore ${selector}`}
                    onFocus={() => onPoint(each)}
                    onBlur={() => onPoint(undefined)}
                    onClick={() => onIgnore([each])}
                  >
                    Ignore
                  </button>
                )}
              </li>
            );
          })}
        </ul>
      )}
    </section>
  );
}
