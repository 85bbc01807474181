import { CapstanError } from '../../capture/errors.ts';

/** What begins so is XPath; no CSS selector does. */
const XPATH = /^(?:\.?\/|\(|xpath=)/;

/** Whether a selector is XPath; otherwise it is CSS. */
export function isXPath(selector: string): boolean {
  return XPATH.test(selector);
}

/**
 * JavaScript that gives an array of the elements which match, in the order of the document. It throws in the page when
 * the selector is none. XPath that begins with `/`, `./`, `(` or `xpath=`; otherwise CSS. What it calls is taken from
 * the prototype, because a page's `<form name="evaluate">` hides what the document itself has.
 */
export function elementsOf(selector: string): string {
  if (!isXPath(selector)) {
    return `[...Document.prototype.querySelectorAll.call(document, ${JSON.stringify(selector)})]`;
  }
  const xpath = JSON.stringify(selector.replace(/^xpath=/, ''));
  return `((found) => Array.from({ length: found.snapshotLength }, (_, at) => found.snapshotItem(at)))(
    Document.prototype.evaluate.call(document, ${xpath}, document, null, XPathResult.ORDERED_NODE_SNAPSHOT_TYPE, null)
  ).filter((node) => node instanceof Element)`;
}

export function notASelector(selector: string): CapstanError {
  return new CapstanError(
    'selector_not_found',
    `${JSON.stringify(selector)} is neither a CSS selector nor an XPath that gives elements`,
  );
}
