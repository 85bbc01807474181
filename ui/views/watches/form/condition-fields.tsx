import { asNamed, Select } from '../../../parts/select.tsx';
import {
  AGAINST,
  type ConditionDraft,
  type ConditionsDraft,
  isByAmount,
  NO_CONDITIONS,
  newCondition,
  OPERATORS,
  operatorsFor,
  type ValueDraft,
} from './value-drafts.ts';

interface ConditionFieldsProps {
  readonly values: readonly ValueDraft[];
  readonly when: ConditionsDraft;
  readonly onChange: (when: ConditionsDraft) => void;
}

/** When the values of a watch are told: "Tell me when price falls below 50". */
export function ConditionFields({ values, when, onChange }: ConditionFieldsProps) {
  const { join, conditions, written } = when;
  const [first] = values.filter(({ name }) => name.trim() !== '');
  const change = (at: number, part: Partial<ConditionDraft>) =>
    onChange({ ...when, conditions: conditions.map((each, index) => (index === at ? { ...each, ...part } : each)) });
  const add = () => first !== undefined && onChange({ ...when, conditions: [...conditions, newCondition(first)] });
  return (
    <section class="panel watch-values">
      <h2>Tell me when</h2>
      {written !== undefined ? (
        <>
          <p class="muted">These conditions were written through the API, and are kept as they are.</p>
          <pre class="value-written">{JSON.stringify(written, undefined, 2)}</pre>
          <button type="button" class="button" onClick={() => onChange(NO_CONDITIONS)}>
            Remove them
          </button>
        </>
      ) : (
        <>
          {conditions.length === 0 && <p class="muted">Any of the values changes.</p>}
          {conditions.length > 1 && (
            <label class="field">
              <span>Of the conditions</span>
              <select
                value={join}
                onChange={(event) => onChange({ ...when, join: event.currentTarget.value === 'any' ? 'any' : 'all' })}
              >
                <option value="all">all must hold</option>
                <option value="any">any is enough</option>
              </select>
            </label>
          )}
          {conditions.map((condition, at) => (
            <Fields
              key={at}
              at={at}
              condition={condition}
              values={values}
              onChange={(part) => change(at, part)}
              onRemove={() => onChange({ ...when, conditions: conditions.filter((_, index) => index !== at) })}
            />
          ))}
          <button type="button" class="button" disabled={first === undefined} onClick={add}>
            Add a condition
          </button>
        </>
      )}
    </section>
  );
}

interface FieldsProps {
  readonly at: number;
  readonly condition: ConditionDraft;
  readonly values: readonly ValueDraft[];
  readonly onChange: (part: Partial<ConditionDraft>) => void;
  readonly onRemove: () => void;
}

function Fields({ at, condition, values, onChange, onRemove }: FieldsProps) {
  const { value, operator, against, hysteresis } = condition;
  const type = values.find(({ name }) => name === value)?.type ?? 'text';
  const operators = operatorsFor(type);
  const hint = AGAINST[operator];
  const isOptional = isByAmount(operator);
  return (
    <fieldset class="condition" aria-label={`Condition ${at + 1}`}>
      <Select
        aria-label="Value"
        value={value}
        options={asNamed(new Set([value, ...values.map(({ name }) => name)]))}
        onChange={(chosen) => {
          const found = values.find(({ name }) => name === chosen);
          if (found !== undefined) onChange(newCondition(found));
        }}
      />
      <Select
        aria-label="Condition"
        value={operator}
        options={operators.map((each) => [each, OPERATORS[each]])}
        onChange={(chosen) => onChange({ operator: chosen })}
      />
      {hint !== undefined && (
        <input
          type="text"
          aria-label={isOptional ? 'By at least' : 'Than or to'}
          required={!isOptional}
          placeholder={isOptional ? `by ${hint}` : hint}
          value={against}
          onInput={(event) => onChange({ against: event.currentTarget.value })}
        />
      )}
      <button type="button" class="button quiet" aria-label={`Remove the condition ${at + 1}`} onClick={onRemove}>
        Remove
      </button>
      {(operator === 'below' || operator === 'above') && (
        <label class="condition-again muted">
          and again after it was {operator === 'below' ? 'above' : 'below'} this by
          <input
            type="text"
            inputMode="decimal"
            placeholder="0"
            value={hysteresis}
            onInput={(event) => onChange({ hysteresis: event.currentTarget.value })}
          />
        </label>
      )}
    </fieldset>
  );
}
