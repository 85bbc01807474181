import { compile } from 'css-select';
import { parseSelector, SelectorError } from './selector.ts';

/**
 * Parses a selector of elements in an element map: CSS, in steps separated by `>>`, each of which enters frames.
 * @throws SelectorError
 */
export function elementSteps(text: string): readonly string[] {
  return parseSelector(text).map((step) => {
    if ('xpath' in step) throw new SelectorError('XPath is not accepted here: use CSS');
    try {
      compile(step.css);
    } catch (error) {
      throw new SelectorError(error instanceof Error ? error.message : String(error));
    }
    return step.css;
  });
}
