import type { SelectorStep } from '../../capture/selector.ts';
import { inputTypeOf, interfaceOf, nameOf } from '../dom.ts';
import { elementsBy } from '../find.ts';

/** Returns `select`, or the type of an input, of the first field that matches in the first form; null for none. */
export function run(form: readonly SelectorStep[], field: readonly SelectorStep[]): string | null {
  const [element] = elementsBy(form)
    .slice(0, 1)
    .flatMap((each) => elementsBy(field, each));
  if (element === undefined) return null;
  if (nameOf(element) === 'select') return 'select';
  return interfaceOf(element) === 'HTMLInputElement' ? inputTypeOf(element) : 'text';
}
