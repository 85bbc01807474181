import type { PageElement } from '../dom/dom.ts';
import { type Style, web } from '../dom/web.ts';

/** The properties with which pages hide and move content, and the names of their computed values. */
const PROPERTIES = {
  opacity: 'opacity',
  visibility: 'visibility',
  transform: 'transform',
  translate: 'translate',
  scale: 'scale',
  rotate: 'rotate',
  filter: 'filter',
  'clip-path': 'clipPath',
} as const satisfies Readonly<Record<string, keyof Style>>;

/** How an element looks. */
export type Look = ReadonlyMap<string, string>;

export function lookOf(element: PageElement): Look {
  const style = web.getComputedStyle(element);
  return new Map(Object.entries(PROPERTIES).map(([property, name]) => [property, style[name]]));
}

/** Whether an element is neither hidden nor moved. */
export function isPlain(look: Look): boolean {
  return [...look].every(([property, value]) => isInitial(property, value));
}

/** Whether a look shows something that `now` hides or moves. */
export function showsMore(look: Look, now: Look): boolean {
  return [...look].some(([property, value]) => {
    const changed = now.get(property);
    if (value === changed) return false;
    return property === 'opacity' ? Number(value) > Number(changed) : isInitial(property, value);
  });
}

function isInitial(property: string, value: string): boolean {
  if (property === 'opacity') return value === '1';
  if (property === 'visibility') return value === 'visible';
  return value === 'none' || value === 'matrix(1, 0, 0, 1, 0, 0)';
}
