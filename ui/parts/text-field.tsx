import { Field, type FieldProps } from './field.tsx';

interface TextFieldProps extends Omit<FieldProps, 'children'> {
  readonly value: string;
  readonly onInput: (value: string) => void;
  /** Whether it is a time of the day. @default false */
  readonly isTime?: boolean;
  readonly inputMode?: 'numeric' | 'url';
  readonly placeholder?: string | undefined;
  readonly required?: boolean;
  readonly 'aria-invalid'?: boolean;
}

/** A line of text with its label. It is no prose: a name, a selector, an address. */
export function TextField({
  label,
  problem,
  describedBy,
  className,
  onInput,
  isTime = false,
  ...input
}: TextFieldProps) {
  return (
    <Field label={label} problem={problem} describedBy={describedBy} className={className}>
      {(control) => (
        <input
          {...control}
          {...input}
          {...(isTime ? ({ type: 'time' } as const) : ({ type: 'text' } as const))}
          autocapitalize="none"
          autocomplete="off"
          spellcheck={false}
          onInput={(event) => onInput(event.currentTarget.value)}
        />
      )}
    </Field>
  );
}
