import type { SelectorStep } from '../../capture/comparison/selector.ts';
import { inputTypeOf, interfaceOf, nameOf, submit } from '../dom/dom.ts';
import { elementsBy } from '../dom/find.ts';

/** Returns `select`, or the type of an input, of the first field that matches in the first form; null for none. */
export function kindOfField(form: readonly SelectorStep[], field: readonly SelectorStep[]): string | null {
  const [element] = elementsBy(form)
    .slice(0, 1)
    .flatMap((each) => elementsBy(field, each));
  if (element === undefined) return null;
  if (nameOf(element) === 'select') return 'select';
  return interfaceOf(element) === 'HTMLInputElement' ? inputTypeOf(element) : 'text';
}

/** Submits the first element that matches, as the Enter key in a field would; null when there is none. */
export function submitForm(steps: readonly SelectorStep[]): 'submitted' | 'not a form' | null {
  const [element] = elementsBy(steps);
  if (element === undefined) return null;
  if (interfaceOf(element) !== 'HTMLFormElement') return 'not a form';
  submit(element);
  return 'submitted';
}
