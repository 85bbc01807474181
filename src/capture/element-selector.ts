import { compile } from 'css-select';
import { parseSelector, SelectorError } from './selector.ts';

/** What css-select takes from jQuery, and browsers refuse. */
const OF_JQUERY =
  /(?<!\\)(?::(?:button|checkbox|contains|file|header|icontains|image|input|matches|parent|password|radio|reset|selected|submit|text)(?![\w-])|!=)/i;

const CONTROL = ':is(button, input, select, textarea, optgroup, option, fieldset)';
const UNTYPED = 'checkbox radio file hidden image button submit reset color range'
  .split(' ')
  .map((type) => `[type=${type} i]`);

/** Pseudo-classes that HTML defines otherwise than css-select 7 does, as selectors of attributes. */
export const PSEUDO_CLASSES: Readonly<Record<string, string>> = {
  'any-link': ':is(a, area)[href]',
  disabled: `:is(${CONTROL}[disabled], optgroup[disabled] > option, fieldset[disabled] :is(button, input, select, textarea, fieldset):not(fieldset[disabled] > legend:first-of-type *))`,
  enabled: `${CONTROL}:not(:disabled)`,
  'read-write': `:is(:is(textarea, input:not(${UNTYPED.join(', ')})):not([readonly], :disabled), [contenteditable]:not([contenteditable=false i]), [contenteditable]:not([contenteditable=false i]) :not([contenteditable=false i], [contenteditable=false i] *, input, textarea))`,
  'read-only': ':not(:read-write, svg, svg *, math, math *)',
};

/**
 * Parses a selector of elements in an element map: CSS, in steps separated by `>>`, each of which enters frames.
 * @throws SelectorError
 */
export function elementSteps(text: string): readonly string[] {
  return parseSelector(text).map((step) => {
    if ('xpath' in step) throw new SelectorError('XPath is not accepted here: use CSS');
    const [part] = OF_JQUERY.exec(step.css.replaceAll(/"[^"]*"|'[^']*'/g, '""')) ?? [];
    if (part !== undefined) throw new SelectorError(`${part} is of jQuery, and not of browsers`);
    try {
      compile(step.css, { pseudos: PSEUDO_CLASSES });
    } catch (error) {
      throw new SelectorError(error instanceof Error ? error.message : String(error));
    }
    return step.css;
  });
}
