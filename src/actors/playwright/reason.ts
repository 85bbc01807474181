import { stripVTControlCharacters } from 'node:util';

const MAX_REASON_CHARACTERS = 300;
const MAX_SELECTOR_CHARACTERS = 100;

/** What Playwright notes while an element is not ready: the last of it says why it never was. */
const OBSTACLES =
  /^(?:element is (?:not (?:visible|enabled|stable|editable)|outside of the viewport)|.* intercepts pointer events|did not find some options)/;

/**
 * Playwright's error in one line, without the log that it appends. Undefined when nothing was wrong with the element but
 * that time was over.
 */
export function reasonOf(error: Error, selector: string | undefined): string | undefined {
  const [head = '', ...log] = stripVTControlCharacters(error.message).split('\n');
  const noted = log.map((line) => line.trim().replace(/^- /, ''));
  const obstacle = noted.findLast((line) => OBSTACLES.test(line));
  if (obstacle === undefined && error.name === 'TimeoutError') {
    return noted.some((line) => line.startsWith('locator resolved to'))
      ? undefined
      : `no element matches ${shown(selector)}`;
  }
  const reason = obstacle ?? head.replace(/^\w+\.\w+: (?:Error: )?/, '');
  return reason.slice(0, MAX_REASON_CHARACTERS).toWellFormed();
}

function shown(selector = ''): string {
  return JSON.stringify(
    selector.length > MAX_SELECTOR_CHARACTERS ? `${selector.slice(0, MAX_SELECTOR_CHARACTERS)}…` : selector,
  );
}
