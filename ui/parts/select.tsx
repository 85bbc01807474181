import { type ControlAttributes, Field } from './field.tsx';

interface SelectProps<V extends string> extends Partial<ControlAttributes> {
  readonly 'aria-label'?: string;
  readonly value: V;
  /** The values and what they are called, in this order. */
  readonly options: readonly (readonly [value: V, name: string, ...unknown[]])[];
  readonly onChange: (value: V) => void;
}

/** A choice of one of several values. */
export function Select<V extends string>({ value, options, onChange, ...attributes }: SelectProps<V>) {
  return (
    <select
      {...attributes}
      value={value}
      onChange={({ currentTarget: { selectedIndex } }) => {
        const [chosen] = options[selectedIndex] ?? [];
        if (chosen !== undefined) onChange(chosen);
      }}
    >
      {options.map(([each, name]) => (
        <option key={each} value={each}>
          {name}
        </option>
      ))}
    </select>
  );
}

/** A `Select` with a label. */
export function SelectField<V extends string>({ label, ...select }: SelectProps<V> & { readonly label: string }) {
  return <Field label={label}>{(control) => <Select {...control} {...select} />}</Field>;
}

/** Returns options whose names are their values. */
export const asNamed = <V extends string>(values: Iterable<V>): readonly (readonly [V, V])[] =>
  [...values].map((each) => [each, each]);
