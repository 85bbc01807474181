import { CapstanError } from '../../capture/errors.ts';

/** Prefixes of XPath; no CSS selector starts like this. */
const XPATH = /^(?:\.?\/|\(|xpath=)/;

/** Returns whether a selector is XPath; otherwise it is CSS. */
export function isXPath(selector: string): boolean {
  return XPATH.test(selector);
}

/**
 * Returns JavaScript that evaluates to the matching elements in document order, and throws for an invalid selector.
 * Selectors that start with `/`, `./`, `(` or `xpath=` are XPath, others CSS. Methods are taken from the prototype,
 * because a page's `<form name="evaluate">` shadows those of the document.
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
