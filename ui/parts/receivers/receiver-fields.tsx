import { useId, useState } from 'preact/hooks';
import type { Receiver } from '../../api/types.ts';
import { Field } from '../field.tsx';
import { TIME_ZONE } from '../format.ts';
import { Select } from '../select.tsx';
import { TextField } from '../text-field.tsx';
import { Problem } from '../view.tsx';
import { KIND_NAMES, KINDS } from './kinds.ts';
import type { NewReceiver, ReceiverDraft } from './use-new-receiver.ts';

const KIND_OPTIONS = KIND_NAMES.map((kind) => [kind, KINDS[kind].name] as const);
const INTERVALS = Object.entries({
  '': 'Each at once',
  '15m': 'Every 15 minutes',
  '1h': 'Every hour',
  '1d': 'Every day',
});

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
            <Select {...control} value={kind} options={KIND_OPTIONS} onChange={(chosen) => change({ kind: chosen })} />
          )}
        </Field>
        <TextField label="Name" problem={problemOf('name')} value={name} onInput={(given) => change({ name: given })} />
      </div>
      <TextField
        label={label}
        problem={problemOf('address')}
        describedBy={hintId}
        inputMode="url"
        placeholder={example}
        value={address}
        onInput={(given) => change({ address: given })}
      />
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
            <Select {...control} value={every} options={INTERVALS} onChange={(chosen) => change({ every: chosen })} />
          )}
        </Field>
        <TextField
          label="At most in an hour"
          problem={problemOf('maxPerHour')}
          inputMode="numeric"
          placeholder="any number"
          value={maxPerHour}
          onInput={(given) => change({ maxPerHour: given })}
        />
        <TextField
          label="Quiet from"
          problem={problemOf('quiet')}
          isTime
          value={quietFrom}
          onInput={(given) => change({ quietFrom: given })}
        />
        <TextField
          label={`to, in the time of ${TIME_ZONE}`}
          isTime
          value={quietTo}
          onInput={(given) => change({ quietTo: given })}
        />
      </div>
    </details>
  );
}
