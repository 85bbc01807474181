import { comparable } from '../../words/comparable.ts';

/**
 * Makes what elements say comparable for the scripts of this world: a library that looks for words in it knows nothing of
 * soft hyphens and no-break spaces.
 */
export function makeTextsComparable(): void {
  const element: unknown = Reflect.get(globalThis, 'HTMLElement');
  if (typeof element !== 'function') return;
  const own = Reflect.getOwnPropertyDescriptor(element.prototype, 'innerText');
  const read = own?.get;
  if (read === undefined) return;
  Reflect.defineProperty(element.prototype, 'innerText', {
    ...own,
    get(): string {
      const lines = String(Reflect.apply(read, this, [])).split('\n');
      return lines.map(comparable).join('\n');
    },
  });
}
