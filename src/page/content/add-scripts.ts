import { CapstanError } from '../../capture/errors.ts';
import type { CaptureRequest } from '../../capture/request.ts';
import { call } from '../asking/page-scripts.ts';
import type { PageSession } from '../frames/page-session.ts';

/** The isolated world that holds the style sheet, inaccessible to the page's scripts. */
export const STYLE_WORLD = 'capstan-style';

/**
 * Adds the request's script and style sheet to every document, before the document's own scripts. Resolves when the
 * browser has them; rejects with `script_failed` when the script has a syntax error. Exceptions that the script throws
 * later are console messages of the page.
 */
export async function addScripts(session: PageSession, { javascript, css }: CaptureRequest): Promise<void> {
  const added: Promise<unknown>[] = [];
  if (css !== undefined) {
    // Early, so that the layout uses the sheet. `changePage` adds it again after load: documents without scripts run
    // nothing early, and scripts of the page may replace the list of constructed sheets.
    const source = call('keepSheet', css);
    added.push(session.send('Page.addScriptToEvaluateOnNewDocument', { source, worldName: STYLE_WORLD }));
  }
  if (javascript?.before !== undefined) {
    added.push(checkSyntax(session, 'javascript.before', javascript.before));
    // Without this command, Chromium runs nothing in a document that has no scripts.
    added.push(session.send('Runtime.enable'));
    added.push(session.send('Page.addScriptToEvaluateOnNewDocument', { source: javascript.before }));
  }
  await Promise.all(added);
}

/**
 * Checks the syntax of an option's script, and rejects with `script_failed` when it is invalid. Runs nothing of it: the
 * engine parses all of the source before its first statement, which ends it.
 */
export async function checkSyntax(session: PageSession, option: ScriptOption, source: string): Promise<void> {
  const { exceptionDetails } = await session.send('Runtime.evaluate', { expression: `throw 0;\n${source}` });
  const { className, description } = exceptionDetails?.exception ?? {};
  if (className === 'SyntaxError') throw scriptFailed(option, description);
}

type ScriptOption = 'javascript.before' | 'javascript.after' | 'waitForFunction';

const MAX_REASON_CHARACTERS = 500;

/** `description` is the engine's text: the error, followed by its stack. */
export function scriptFailed(option: ScriptOption, description = 'it threw something that is no error'): CapstanError {
  const [first = ''] = description.split('\n');
  return new CapstanError('script_failed', `${option}: ${first.slice(0, MAX_REASON_CHARACTERS).toWellFormed()}`);
}
