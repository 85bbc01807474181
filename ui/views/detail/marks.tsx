import { useState } from 'preact/hooks';
import type { MarksChange } from '../../../src/client/types.ts';
import { call } from '../../api/client.ts';
import { isAdmin, mayCapture } from '../../api/session.ts';
import type { DetailedResult, Result } from '../../api/types.ts';
import { dateAndTime } from '../../parts/format.ts';
import { Icon } from '../../parts/icon.tsx';
import { useDraft } from '../../parts/kept.ts';
import { LabelInput, labelsIn } from '../../parts/label-input.tsx';
import { hrefOf } from '../../parts/route.ts';
import { useAttempt } from '../../parts/use-attempt.ts';
import { Problem } from '../../parts/view.tsx';

export type Marks = Pick<DetailedResult, 'labels' | 'note' | 'hold'>;

interface MarksPanelProps {
  readonly id: number;
  readonly marks: Marks;
  readonly onChange: (marks: Marks) => void;
}

/** Labels, note and hold of a capture, which people change. */
export function MarksPanel({ id, marks, onChange }: MarksPanelProps) {
  const { labels, hold } = marks;
  const [added, setAdded] = useState('');
  const [note, setNote, forgetNote] = useDraft('note', marks.note);
  const { error, attempt } = useAttempt();
  const change = (body: MarksChange) =>
    attempt(
      async () => onChange((await call<Result>(`/screenshot/${id}`, { method: 'PATCH', body })).data),
      JSON.stringify(body),
    );
  const add = async (event: Event) => {
    event.preventDefault();
    const labels = labelsIn(added);
    if (labels.length > 0 && (await change({ addLabels: labels }))) setAdded('');
  };
  const mayChange = mayCapture.value === true;
  return (
    <section class="panel marks">
      <h2>Labels</h2>
      {labels.length === 0 && !mayChange && <p class="muted">There are none.</p>}
      {labels.length > 0 && (
        <ul class="label-list">
          {labels.map((label) => (
            <li key={label} class="badge plain">
              <a href={hrefOf(`/?${new URLSearchParams({ label })}`)}>{label}</a>
              {mayChange && (
                <button
                  type="button"
                  aria-label={`Remove the label ${label}`}
                  onClick={() => void change({ removeLabels: [label] })}
                >
                  <Icon name="close" size={12} />
                </button>
              )}
            </li>
          ))}
        </ul>
      )}
      {mayChange && (
        <form class="label-form" onSubmit={(event) => void add(event)}>
          <LabelInput
            label="New label"
            isQuiet
            value={added}
            placeholder="New label"
            onInput={(event) => setAdded(event.currentTarget.value)}
          />
          <button type="submit" class="button">
            Add
          </button>
        </form>
      )}
      {mayChange ? (
        <form
          class="note-form"
          onSubmit={(event) => {
            event.preventDefault();
            void change({ note }).then((isSaved) => isSaved && forgetNote());
          }}
        >
          <label class="field">
            <span>Note</span>
            <textarea rows={2} value={note} onInput={({ currentTarget: { value } }) => setNote(() => value)} />
          </label>
          {note !== marks.note && (
            <button type="submit" class="button">
              Save the note
            </button>
          )}
        </form>
      ) : (
        marks.note !== '' && <p class="note">{marks.note}</p>
      )}
      {hold !== null && (
        <p class="muted">
          Held since {dateAndTime(hold.at)}
          {hold.by === '' ? '' : ` by ${hold.by}`}: it is not removed.
        </p>
      )}
      {isAdmin.value === true && (
        <button type="button" class="button" onClick={() => void change({ hold: hold === null })}>
          {hold === null ? 'Hold' : 'Lift the hold'}
        </button>
      )}
      {error !== undefined && <Problem error={error} />}
    </section>
  );
}
