import type { Comparison } from '../../api/types.ts';
import { Badge, type Tone } from '../../parts/badge.tsx';
import { KINDS } from './marked.tsx';

type Elements = NonNullable<Comparison['elements']>;
export type ElementChange = Elements['changes'][number];

const TONES: Readonly<Record<ElementChange['kind'], Tone>> = {
  inserted: 'good',
  removed: 'bad',
  moved: 'plain',
  edited: 'warn',
};

interface ElementChangesProps {
  readonly elements: Elements;
  /** Called with the change that the pointer or the focus is on. */
  readonly onPoint: (change: ElementChange | undefined) => void;
  readonly onIgnore: (selector: string) => void;
}

/** The elements that differ: their kinds, their selectors, and what changed in them. */
export function ElementChanges({ elements: { changes, truncated }, onPoint, onIgnore }: ElementChangesProps) {
  if (changes.length === 0) return <p class="muted">No element differs.</p>;
  return (
    <>
      <ul class="changes">
        {changes.map((change, at) => (
          <li
            key={at}
            class={change.from === null && change.to === null ? 'unseen' : ''}
            onMouseEnter={() => onPoint(change)}
            onMouseLeave={() => onPoint(undefined)}
            onFocusCapture={() => onPoint(change)}
          >
            <Badge tone={TONES[change.kind]}>{KINDS[change.kind]}</Badge>
            <code class="change-selector">{change.selector}</code>
            <button
              type="button"
              class="button quiet"
              aria-label={`Ignore ${change.selector}`}
              onClick={() => onIgnore(change.selector)}
            >
              Ignore
            </button>
            <What change={change} />
          </li>
        ))}
      </ul>
      {truncated && <p class="muted">There are more elements, or the map of a page was cut.</p>}
    </>
  );
}

function What({ change: { text, style, image, from, to } }: { readonly change: ElementChange }) {
  const rows = [
    ...(text === null ? [] : [['text', text.from, text.to] as const]),
    ...style.map((each) => [each.property, each.from, each.to] as const),
    ...(image === null ? [] : [['image', image.from, image.to] as const]),
  ];
  if (rows.length === 0 && (from !== null || to !== null)) return null;
  return (
    <dl class="change-what">
      {rows.map(([name, before, after]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>
            <Value text={before} class="diff-removed" /> <Value text={after} class="diff-added" />
          </dd>
        </div>
      ))}
      {from === null && to === null && (
        <div>
          <dt>place</dt>
          <dd class="muted">not in the screenshots</dd>
        </div>
      )}
    </dl>
  );
}

function Value({ text, class: name }: { readonly text: string; readonly class: string }) {
  return text === '' ? <span class="muted">none</span> : <code class={name}>{text}</code>;
}
