import { stripVTControlCharacters } from 'node:util';
import type { Step } from './step.ts';

const MAX_REASON_CHARACTERS = 300;
const MAX_SELECTOR_CHARACTERS = 100;

/**
 * Playwright's log lines while an element is not ready; the last one is the reason. Playwright does not guarantee these
 * texts: package.json pins its version, and test/actors/interaction.test.ts fails when they change.
 */
const OBSTACLES =
  /^(?:element is (?:not (?:visible|enabled|stable|editable)|outside of the viewport)|.* intercepts pointer events|did not find some options)/;

/** The selector or text of a step, and whether it takes hidden elements. */
type Sought = Pick<Step, 'selector' | 'text' | 'takesHidden'>;

/**
 * Returns Playwright's error in one line, without the appended log. Undefined when the time ran out for a reason other
 * than the element.
 */
export function reasonOf(error: Error, { selector, text, takesHidden = false }: Sought): string | undefined {
  const [head = '', ...log] = stripVTControlCharacters(error.message).split('\n');
  const noted = log.map((line) => line.trim().replace(/^- /, ''));
  const obstacle = noted.findLast((line) => OBSTACLES.test(line));
  if (obstacle === undefined && error.name === 'TimeoutError') {
    return noted.some((line) => line.startsWith('locator resolved to'))
      ? undefined
      : selector === undefined && text !== undefined
        ? `no visible element has the text ${shown(text)}`
        : `no ${takesHidden ? '' : 'visible '}element matches ${shown(selector)}`;
  }
  const reason = obstacle ?? head.replace(/^\w+\.\w+: (?:Error: )?/, '');
  return reason.slice(0, MAX_REASON_CHARACTERS).toWellFormed();
}

function shown(selector = ''): string {
  return JSON.stringify(
    selector.length > MAX_SELECTOR_CHARACTERS ? `${selector.slice(0, MAX_SELECTOR_CHARACTERS)}…` : selector,
  );
}
