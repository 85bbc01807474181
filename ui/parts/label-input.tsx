import { useEffect, useId, useState } from 'preact/hooks';
import { call, queryOf } from '../api/client.ts';

/** Time without typing after which labels are looked for, in milliseconds. */
const TYPING_MS = 200;
const MAX_SUGGESTED = 20;

interface LabelInputProps {
  readonly label: string;
  /** Whether the label is for screen readers only. */
  readonly isQuiet?: boolean;
  /** Whether the field has the focus when the dialog around it opens. */
  readonly hasFocus?: boolean;
  readonly value: string;
  readonly placeholder: string;
  readonly onInput: (event: Event & { readonly currentTarget: HTMLInputElement }) => void;
}

/** Returns the labels in a text that separates them by commas. */
export function labelsIn(text: string): readonly string[] {
  return text.split(',').filter((label) => label.trim() !== '');
}

/** A field for a label, which suggests those that captures have. */
export function LabelInput({ label, isQuiet = false, hasFocus = false, value, placeholder, onInput }: LabelInputProps) {
  const list = useId();
  const [isUsed, setUsed] = useState(false);
  const [suggested, setSuggested] = useState<readonly string[]>([]);
  useEffect(() => {
    if (!isUsed) return;
    const abort = new AbortController();
    const timer = setTimeout(() => {
      const path = `/labels${queryOf({ text: value.trim(), limit: MAX_SUGGESTED })}`;
      // Labels can be typed without suggestions, too.
      call<readonly string[]>(path, { signal: abort.signal }).then(
        ({ data }) => setSuggested(data),
        () => undefined,
      );
    }, TYPING_MS);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [isUsed, value]);
  return (
    <label class={isQuiet ? 'label-field' : 'field'}>
      <span class={isQuiet ? 'sr-only' : undefined}>{label}</span>
      <input
        type="text"
        list={list}
        autocomplete="off"
        autofocus={hasFocus}
        spellcheck={false}
        placeholder={placeholder}
        value={value}
        onFocus={() => setUsed(true)}
        onInput={onInput}
      />
      <datalist id={list}>
        {suggested.map((each) => (
          <option key={each} value={each} />
        ))}
      </datalist>
    </label>
  );
}
