import type { Receiver } from '../../../api/types.ts';
import { nameOfKind } from '../../../parts/receivers/kinds.ts';
import { ReceiverFields } from '../../../parts/receivers/receiver-fields.tsx';
import type { NewReceiver } from '../../../parts/receivers/use-new-receiver.ts';
import { useAnswer } from '../../../parts/use-answer.ts';
import { Problem } from '../../../parts/view.tsx';

interface TellFieldsProps {
  readonly notify: readonly string[];
  readonly adding: NewReceiver;
  readonly onChange: (notify: readonly string[]) => void;
}

/** The receivers that a watch tells. */
export function TellFields({ notify, adding, onChange }: TellFieldsProps) {
  const { data, error, reload } = useAnswer<readonly Receiver[]>('/receivers');
  const usable = data?.filter(({ is_own: isOwn, is_operator: isOperator }) => isOwn || isOperator) ?? [];
  const unknown = notify.filter((name) => !usable.some((each) => each.name === name));
  const choose = (name: string, isChosen: boolean) =>
    onChange(isChosen ? [...notify, name] : notify.filter((other) => other !== name));
  return (
    <section class="panel watch-values" aria-busy={data === undefined && error === undefined}>
      <h2>Tell</h2>
      {notify.length === 0 && !adding.isOpen && <p class="muted">Nobody. Changes are shown here alone.</p>}
      {(usable.length > 0 || unknown.length > 0) && (
        <ul class="receiver-choices">
          {usable.map(({ name, kind, host }) => (
            <li key={name}>
              <label class="option-flag">
                <input
                  type="checkbox"
                  checked={notify.includes(name)}
                  onChange={(event) => choose(name, event.currentTarget.checked)}
                />
                {name}{' '}
                <span class="muted">
                  {nameOfKind(kind)}, {host}
                </span>
              </label>
            </li>
          ))}
          {unknown.map((name) => (
            <li key={name}>
              <label class="option-flag">
                <input type="checkbox" checked onChange={() => choose(name, false)} />
                {name} {data !== undefined && <span class="muted">not among your receivers</span>}
              </label>
            </li>
          ))}
        </ul>
      )}
      {error !== undefined && <Problem error={error} retry={reload} />}
      {adding.isOpen ? (
        <ReceiverFields
          adding={adding}
          onAdded={({ name }) => {
            onChange([...notify, name]);
            reload();
          }}
        />
      ) : (
        <button type="button" class="button" onClick={adding.open}>
          Add a receiver
        </button>
      )}
    </section>
  );
}
