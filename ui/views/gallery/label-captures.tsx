import { useEffect, useRef, useState } from 'preact/hooks';
import type { MarkedCaptures, MarksChange } from '../../../src/client/types.ts';
import { CapstanFailure, call } from '../../api/client.ts';
import type { Result } from '../../api/types.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { counted, integer } from '../../parts/format.ts';
import { LabelInput, labelsIn } from '../../parts/label-input.tsx';
import { useAttempt } from '../../parts/use-attempt.ts';
import { Problem } from '../../parts/view.tsx';
import { changePath, type Filters } from './filters.ts';

/** Captures whose labels are changed: some of a list, or all that its filters select. */
type Chosen = readonly Result[] | Filters;

interface LabelCapturesProps {
  readonly of: Chosen;
  /** Called with each capture of the list, as it is after the change. */
  readonly onLabelled: (result: Result) => void;
  /** `isListChanged`: whether captures were changed for which `onLabelled` was not called. */
  readonly onClose: (isListChanged: boolean) => void;
}

/** Maximum number of captures that could not be changed whose reason is shown. */
const SHOWN_FAILURES = 3;

interface Outcome {
  readonly changed: number;
  readonly failed: readonly Pick<MarkedCaptures['failed'][number], 'id' | 'error'>[];
}

/** Adds labels to several captures at once, or removes them. */
export function LabelCaptures({ of, onLabelled, onClose }: LabelCapturesProps) {
  const [text, setText] = useState('');
  const [outcome, setOutcome] = useState<Outcome>();
  const { error, isRunning, attempt } = useAttempt();
  const abort = useRef(new AbortController());
  useEffect(() => () => abort.current.abort(), []);
  const isList = isSome(of);
  const labels = labelsIn(text);
  const { changed = 0, failed = [] } = outcome ?? {};

  const change = (body: MarksChange) =>
    attempt(async () => {
      const { signal } = abort.current;
      let all: Outcome = { changed: 0, failed: [] };
      for await (const part of isList ? changeEach(of, body, signal, onLabelled) : changeMatching(of, body, signal)) {
        all = { changed: all.changed + part.changed, failed: [...all.failed, ...part.failed] };
        setOutcome(all);
      }
      if (all.failed.length === 0) setText('');
    });

  return (
    <Dialog
      title={isList ? `Label ${counted(of.length, 'capture')}` : 'Label all captures that match'}
      onClose={() => onClose(!isList && (isRunning || changed > 0))}
    >
      {!isList && (
        <p class="muted">Changes every capture that the filters select, also those that the list has not loaded.</p>
      )}
      <form
        class="label-captures"
        onSubmit={(event) => {
          event.preventDefault();
          if (labels.length > 0 && !isRunning) void change({ addLabels: labels });
        }}
      >
        <LabelInput
          label="Labels, separated by commas"
          hasFocus
          value={text}
          placeholder="legal, case 17"
          onInput={(event) => setText(event.currentTarget.value)}
        />
        <div class="dialog-buttons">
          <button
            type="button"
            class="button"
            disabled={labels.length === 0 || isRunning}
            onClick={() => void change({ removeLabels: labels })}
          >
            Remove
          </button>
          <button type="submit" class="button primary" disabled={labels.length === 0 || isRunning}>
            Add
          </button>
        </div>
      </form>
      <p role="status">
        {outcome !== undefined && `${counted(changed, 'capture')} changed${isRunning ? ' so far' : '.'}`}
      </p>
      {failed.length > 0 && (
        <div class="notice bad">
          {failed.slice(0, SHOWN_FAILURES).map(({ id, error: reason }) => (
            <p key={id}>{reason}</p>
          ))}
          {failed.length > SHOWN_FAILURES && <p>And {integer(failed.length - SHOWN_FAILURES)} more.</p>}
        </div>
      )}
      {error !== undefined && <Problem error={error} />}
    </Dialog>
  );
}

const isSome = (of: Chosen): of is readonly Result[] => Array.isArray(of);

/** Changes captures one by one. A capture that may not be changed is reported, and the next one follows. */
async function* changeEach(
  results: readonly Result[],
  body: MarksChange,
  signal: AbortSignal,
  report: (result: Result) => void,
): AsyncGenerator<Outcome> {
  for (const { id } of results) {
    try {
      const { data } = await call<Result>(`/screenshot/${id}`, { method: 'PATCH', body, signal });
      report(data);
      yield { changed: 1, failed: [] };
    } catch (failure) {
      const isOfThis = failure instanceof CapstanFailure && failure.status >= 400 && failure.status < 500;
      if (!isOfThis) throw failure;
      yield { changed: 0, failed: [{ id, error: failure.message }] };
    }
  }
}

async function* changeMatching(filters: Filters, body: MarksChange, signal: AbortSignal): AsyncGenerator<Outcome> {
  for (let cursor: string | null = ''; cursor !== null; ) {
    const path = changePath(filters, cursor);
    const { data }: { data: MarkedCaptures } = await call<MarkedCaptures>(path, { method: 'PATCH', body, signal });
    yield data;
    cursor = data.next;
  }
}
