import { useId, useState } from 'preact/hooks';
import type { Receiver } from '../../api/types.ts';
import { Field } from '../field.tsx';
import { TIME_ZONE } from '../format.ts';
import { Problem } from '../view.tsx';
import { KIND_NAMES, KINDS } from './kinds.ts';
import type { NewReceiver, ReceiverDraft } from './use-new-receiver.ts';

const INTERVALS = { '': 'Each at once', '15m': 'Every 15 minutes', '1h': 'Every hour', '1d': 'Every day' } as const;

interface ReceiverFieldsProps {
  readonly adding: NewReceiver;
  readonly onAdded: (receiver: Receiver) => void;
}

/** The fields of a new receiver. They are not a form, so that a form can contain them. */
export function ReceiverFields({ adding, onAdded }: ReceiverFieldsProps) {
  const { draft, change, problemOf, error } = adding;
  const { kind, name = kind, address } = draft;
  const hintId = useId();
  const { address: label, example, hint } = KINDS[kind];
  const add = async () => {
    const added = await adding.add();
    if (added !== undefined) onAdded(added);
  };
  return (
    <fieldset
      class="receiver-fields"
      aria-label="New receiver"
      onKeyDown={(event) => {
        if (event.key !== 'Enter' || !(event.target instanceof HTMLInputElement)) return;
        // Enter adds the receiver; it must not submit the form around the fields.
        event.preventDefault();
        void add();
      }}
    >
      <div class="receiver-pair">
        <Field label="Kind" problem={problemOf('kind')}>
          {(control) => (
            <select
              {...control}
              value={kind}
              onChange={({ currentTarget: { value } }) =>
                change({ kind: KIND_NAMES.find((each) => each === value) ?? kind })
              }
            >
              {KIND_NAMES.map((each) => (
                <option key={each} value={each}>
                  {KINDS[each].name}
                </option>
              ))}
            </select>
          )}
        </Field>
        <Field label="Name" problem={problemOf('name')}>
          {(control) => (
            <input
              {...control}
              type="text"
              autocapitalize="none"
              spellcheck={false}
              value={name}
              onInput={(event) => change({ name: event.currentTarget.value })}
            />
          )}
        </Field>
      </div>
      <Field label={label} problem={problemOf('address')} describedBy={hintId}>
        {(control) => (
          <input
            {...control}
            type="text"
            inputMode="url"
            autocapitalize="none"
            autocomplete="off"
            spellcheck={false}
            placeholder={example}
            value={address}
            onInput={(event) => change({ address: event.currentTarget.value })}
          />
        )}
      </Field>
      <p id={hintId} class="muted receiver-hint">
        {hint}
      </p>
      <Pace draft={draft} change={change} problemOf={problemOf} />
      {error !== undefined && <Problem error={error} />}
      <div class="receiver-buttons">
        <button type="button" class="button" onClick={() => void add()}>
          Add the receiver
        </button>
        <button type="button" class="button quiet" onClick={adding.close}>
          Cancel
        </button>
      </div>
    </fieldset>
  );
}

type PaceProps = Pick<NewReceiver, 'change' | 'problemOf'> & { readonly draft: ReceiverDraft };

/** When messages are sent; by default each at once. */
function Pace({ draft: { every, quietFrom, quietTo, maxPerHour }, change, problemOf }: PaceProps) {
  const isWrong = ['every', 'quiet', 'maxPerHour'].some((field) => problemOf(field) !== undefined);
  const [isOpen, setOpen] = useState(false);
  return (
    <details class="receiver-more" open={isOpen || isWrong} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>More: digests, quiet hours, a limit</summary>
      <div class="receiver-pair">
        <Field label="Messages are sent" problem={problemOf('every')}>
          {(control) => (
            <select {...control} value={every} onChange={(event) => change({ every: event.currentTarget.value })}>
              {Object.entries(INTERVALS).map(([value, words]) => (
                <option key={value} value={value}>
                  {words}
                </option>
              ))}
            </select>
          )}
        </Field>
        <Field label="At most in an hour" problem={problemOf('maxPerHour')}>
          {(control) => (
            <input
              {...control}
              type="text"
              inputMode="numeric"
              placeholder="any number"
              value={maxPerHour}
              onInput={(event) => change({ maxPerHour: event.currentTarget.value })}
            />
          )}
        </Field>
        <Field label="Quiet from" problem={problemOf('quiet')}>
          {(control) => (
            <input
              {...control}
              type="time"
              value={quietFrom}
              onInput={(event) => change({ quietFrom: event.currentTarget.value })}
            />
          )}
        </Field>
        <Field label={`to, in the time of ${TIME_ZONE}`}>
          {(control) => (
            <input
              {...control}
              type="time"
              value={quietTo}
              onInput={(event) => change({ quietTo: event.currentTarget.value })}
            />
          )}
        </Field>
      </div>
    </details>
  );
}
