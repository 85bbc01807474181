interface SegmentsProps<T extends string> {
  /** Name of the choice, for screen readers. */
  readonly label: string;
  /** Name of the radio buttons, which no other choice of the view has. */
  readonly name: string;
  readonly choices: readonly (readonly [value: T, label: string])[];
  readonly chosen: T;
  readonly onChoose: (value: T) => void;
}

/** A choice of one of a few values, as a row of buttons. */
export function Segments<T extends string>({ label, name, choices, chosen, onChoose }: SegmentsProps<T>) {
  return (
    <fieldset class="segments" aria-label={label}>
      {choices.map(([value, text]) => (
        <label key={value}>
          <input type="radio" name={name} checked={chosen === value} onChange={() => onChoose(value)} />
          {text}
        </label>
      ))}
    </fieldset>
  );
}
