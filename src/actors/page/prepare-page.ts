import type { CaptureRequest } from '../../capture/request.ts';
import { addScripts } from './content/add-scripts.ts';
import type { PageSession } from './isolated-page.ts';
import { adRule } from './network/ads.ts';
import { blockRules, type IsPageItself } from './network/block.ts';
import { Interception } from './network/intercept.ts';
import { ownOriginRules } from './network/own-origin.ts';
import { setCookies } from './network/set-cookies.ts';

/** What a page was told about its visitor, and what that keeps while the capture goes on. */
export interface Visit {
  readonly interception: Interception;
  /** The documents, by their loaders, that were changed already, and whether all of it was done. */
  readonly changed: Map<string, boolean>;
  /**
   * Resolves when all of it holds. Rejects with `invalid_request` when the browser refuses a cookie, with
   * `script_failed` when a script cannot be read.
   */
  readonly ready: Promise<unknown>;
}

/** Makes a page that shows nothing yet the page of the visitor that the request asks for. */
export function prepareVisit(session: PageSession, request: CaptureRequest): Visit {
  const interception = new Interception(session);
  const commands: Promise<unknown>[] = [addScripts(session, request), addRules(session, interception, request)];
  if (request.cookies !== undefined) commands.push(setCookies(session, request));
  if (request.ignoreCertErrors) {
    commands.push(session.send('Security.setIgnoreCertificateErrors', { ignore: true }));
  }
  return { interception, changed: new Map(), ready: Promise.all(commands) };
}

async function addRules(session: PageSession, interception: Interception, request: CaptureRequest): Promise<void> {
  const rules = ownOriginRules(session, request);
  if (request.block !== undefined || request.blockAds) {
    const { frameTree } = await session.send('Page.getFrameTree');
    const isPageItself: IsPageItself = ({ frameId, resourceType }) =>
      resourceType === 'Document' && frameId === frameTree.frame.id;
    rules.push(...blockRules(request, isPageItself));
    if (request.blockAds) rules.push(await adRule(request.target.url, isPageItself));
  }
  await interception.add(...rules);
}
