import type { CaptureRequest } from '../../../capture-request.ts';
import type { PageSession } from '../isolated-page.ts';
import { addScripts } from './add-scripts.ts';
import { blockRule, type IsPageItself } from './block.ts';
import { Interception } from './intercept.ts';
import { ownOriginRules } from './own-origin.ts';
import { setCookies } from './set-cookies.ts';

/** What a page was told about its visitor, and what that keeps while the capture goes on. */
export interface Visit {
  readonly interception: Interception;
  /** The documents, by their loaders, that were changed already. */
  readonly changed: Set<string>;
  /**
   * Resolves when all of it holds. Rejects with `invalid_request` when the browser refuses a cookie, with
   * `script_failed` when a script cannot be read.
   */
  readonly ready: Promise<unknown>;
}

/** Makes a page that shows nothing yet the page of the visitor that the request asks for. */
export function prepareVisit(session: PageSession, request: CaptureRequest): Visit {
  const interception = new Interception(session);
  const sent: Promise<unknown>[] = [];
  if (request.cookies !== undefined) sent.push(setCookies(session, request));
  if (request.ignoreCertErrors === true) {
    sent.push(session.send('Security.setIgnoreCertificateErrors', { ignore: true }));
  }
  sent.push(addScripts(session, request));

  let mainFrame: string | undefined;
  const isPageItself: IsPageItself = ({ frameId, resourceType }) =>
    resourceType === 'Document' && (mainFrame === undefined || frameId === mainFrame);
  const learnMainFrame = async () => {
    const { frameTree } = await session.send('Page.getFrameTree');
    mainFrame = frameTree.frame.id;
  };
  const blocked = blockRule(request, isPageItself);
  if (blocked !== null) sent.push(learnMainFrame());
  sent.push(interception.add(...ownOriginRules(request), ...(blocked === null ? [] : [blocked])));
  return { interception, changed: new Set(), ready: Promise.all(sent) };
}
