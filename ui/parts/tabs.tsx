import type { ComponentChildren } from 'preact';
import { useId, useRef, useState } from 'preact/hooks';

export interface Tab {
  readonly name: string;
  /** Shown after the name: a number of items. */
  readonly count?: number | undefined;
  readonly render: () => ComponentChildren;
}

/** Tabs that can be switched with the arrow keys. The first tab is open initially. */
export function Tabs({ label, tabs }: { readonly label: string; readonly tabs: readonly Tab[] }) {
  const [wanted, setWanted] = useState('');
  const list = useRef<HTMLDivElement>(null);
  const id = useId();
  const open = tabs.find(({ name }) => name === wanted) ?? tabs[0];
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (step === undefined || open === undefined) return;
    event.preventDefault();
    const at = (tabs.indexOf(open) + step + tabs.length) % tabs.length;
    setWanted(tabs[at]?.name ?? '');
    list.current?.querySelectorAll<HTMLElement>('[role=tab]')[at]?.focus();
  };
  return (
    <div class="tabs">
      <div role="tablist" aria-label={label} ref={list} onKeyDown={onKeyDown}>
        {tabs.map(({ name, count }) => (
          <button
            key={name}
            type="button"
            role="tab"
            id={`${id}-${name}`}
            aria-selected={name === open?.name}
            aria-controls={`${id}-panel`}
            tabIndex={name === open?.name ? 0 : -1}
            onClick={() => setWanted(name)}
          >
            {name}
            {count !== undefined && <span class="count">{count}</span>}
          </button>
        ))}
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a panel without controls must be reachable with the keyboard */}
      <div role="tabpanel" id={`${id}-panel`} aria-labelledby={`${id}-${open?.name}`} tabIndex={0}>
        {open?.render()}
      </div>
    </div>
  );
}
