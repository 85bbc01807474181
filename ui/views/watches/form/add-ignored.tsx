import { useState } from 'preact/hooks';

/** A field for what cannot be pointed at: texts, kinds, and selectors of one's own. */
export function AddIgnored({ onAdd }: { readonly onAdd: (each: string) => void }) {
  const [text, setText] = useState('');
  const add = () => {
    if (text.trim() !== '') onAdd(text.trim());
    setText('');
  };
  return (
    <div class="add-ignored">
      <label class="field">
        <span>Ignore also</span>
        <input
          type="text"
          placeholder="text:Updated *, selector:.ad, moved"
          autocapitalize="none"
          spellcheck={false}
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key !== 'Enter') return;
            event.preventDefault();
            add();
          }}
        />
      </label>
      <button type="button" class="button" onClick={add}>
        Add
      </button>
    </div>
  );
}
