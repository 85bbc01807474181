/** What begins so is XPath; no CSS selector does. */
const XPATH = /^(?:\.?\/|\(|xpath=)/;

/**
 * JavaScript that gives an array of the elements which match, in the order of the document. It throws a `SyntaxError`
 * in the page when the selector is none. XPath that begins with `/`, `./`, `(` or `xpath=`; otherwise CSS.
 */
export function elementsOf(selector: string): string {
  if (!XPATH.test(selector)) return `[...document.querySelectorAll(${JSON.stringify(selector)})]`;
  const xpath = JSON.stringify(selector.replace(/^xpath=/, ''));
  return `((found) => Array.from({ length: found.snapshotLength }, (_, at) => found.snapshotItem(at)))(
    document.evaluate(${xpath}, document, null, XPathResult.ORDERED_NODE_SNAPSHOT_TYPE)
  ).filter((node) => node instanceof Element)`;
}
