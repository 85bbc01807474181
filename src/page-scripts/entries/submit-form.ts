import type { SelectorStep } from '../../capture/selector.ts';
import { interfaceOf, submit } from '../dom.ts';
import { elementsBy } from '../find.ts';

/** Submits the first element that matches, as the Enter key in a field would; null when there is none. */
export function run(steps: readonly SelectorStep[]): 'submitted' | 'not a form' | null {
  const [element] = elementsBy(steps);
  if (element === undefined) return null;
  if (interfaceOf(element) !== 'HTMLFormElement') return 'not a form';
  submit(element);
  return 'submitted';
}
