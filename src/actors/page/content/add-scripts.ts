import { CapstanError } from '../../../capture/errors.ts';
import type { CaptureRequest } from '../../../capture/request.ts';
import type { PageSession } from '../isolated-page.ts';

/** The world in which the style sheet is kept, away from the page's scripts. */
export const STYLE_WORLD = 'capstan-style';

/**
 * What is to be in every document before its own scripts run: the request's script, and its style sheet. Resolves when
 * the browser has them; rejects with `script_failed` when the script cannot be read. What it throws later is a message
 * of the page's console, as if the page had thrown it.
 */
export async function addScripts(session: PageSession, { javascript, css }: CaptureRequest): Promise<void> {
  const added: Promise<unknown>[] = [];
  if (css !== undefined) {
    const source = keepSheet(css);
    added.push(session.send('Page.addScriptToEvaluateOnNewDocument', { source, worldName: STYLE_WORLD }));
  }
  if (javascript?.before !== undefined) {
    added.push(checkSyntax(session, javascript.before));
    // Without it nothing is run in a document that has no script of its own.
    added.push(session.send('Runtime.enable'));
    added.push(session.send('Page.addScriptToEvaluateOnNewDocument', { source: javascript.before }));
  }
  await Promise.all(added);
}

/**
 * The script that gives its document the style sheet, unless it has it. A sheet that is constructed obeys no
 * Content-Security-Policy of the page, comes after the page's own sheets, and is no element that the HTML copy would
 * show. It is run early, so that the page is laid out with it, and once more when the page has loaded: early nothing is
 * run in a document without scripts, and one with scripts may set its own list of such sheets.
 */
export function keepSheet(css: string): string {
  return `if (window.top === window) {
  if (globalThis.sheet === undefined) {
    globalThis.sheet = new CSSStyleSheet();
    sheet.replaceSync(${JSON.stringify(css)});
  }
  if (!document.adoptedStyleSheets.includes(sheet)) document.adoptedStyleSheets.push(sheet);
}`;
}

/** The whole of a script is read before any of it runs, and none of this one does. */
async function checkSyntax(session: PageSession, source: string): Promise<void> {
  const { exceptionDetails } = await session.send('Runtime.evaluate', { expression: `throw 0;\n${source}` });
  const { className, description } = exceptionDetails?.exception ?? {};
  if (className === 'SyntaxError') throw scriptFailed('before', description);
}

const MAX_REASON_CHARACTERS = 500;

/** `description` is what the page's engine says: the error, and behind it where it was thrown. */
export function scriptFailed(
  when: 'before' | 'after',
  description = 'it threw something that is no error',
): CapstanError {
  const [first = ''] = description.split('\n');
  return new CapstanError(
    'script_failed',
    `javascript.${when}: ${first.slice(0, MAX_REASON_CHARACTERS).toWellFormed()}`,
  );
}
