import type { CaptureRequest } from '../capture/request.ts';
import type { Banner } from '../capture/result/banner.ts';
import { addScripts } from './content/add-scripts.ts';
import { checkSelectors } from './find/check-selectors.ts';
import type { EvaluatedFrame, PageSession } from './frames/page-session.ts';
import { adRule } from './network/ads.ts';
import { blockRules, type IsPageItself } from './network/block.ts';
import { givenHtml } from './network/given-html.ts';
import { Interception, type InterceptionRule } from './network/intercept.ts';
import { ownOriginRules } from './network/own-origin.ts';
import { setCookies } from './network/set-cookies.ts';
import { type HeightLimit, UNLIMITED } from './screenshot/shot-plan.ts';

/** The network set-up of a page, and the state of its preparation. */
export interface Visit {
  /** The URL that was fetched: that of the request, or the one over http where https was assumed. */
  fetchedUrl: string;
  readonly interception: Interception;
  /** Blocks in a shared worker what the request blocks, before the worker runs. */
  blockIn(worker: PageSession): void;
  /** How far down the page is drawn at all. */
  drawn: HeightLimit;
  /** How far down the current document has been prepared for its image. */
  shown: HeightLimit;
  /** Frames, by their ids, whose documents were changed or measured for the screenshot. */
  readonly preparedFrames: Map<string, EvaluatedFrame>;
  /** Documents that were changed already, by their loader ids, and whether every change was made. */
  readonly changed: Map<string, boolean>;
  /** Loader id of the last document whose connection ended before all of it had come; null when none did. */
  brokenOff: string | null;
  /** The action taken on a cookie banner; null when none was looked for. */
  banner: Banner | null;
  /**
   * Resolves when everything is in place. Rejects with `invalid_request` when the browser refuses a cookie or a
   * selector, and with `script_failed` for a syntax error in a script.
   */
  readonly ready: Promise<unknown>;
}

/** Prepares an empty page for the visitor that the request describes. */
export function prepareVisit(session: PageSession, request: CaptureRequest): Visit {
  const interception = new Interception(session);
  const blocking: InterceptionRule[] = [];
  const commands: Promise<unknown>[] = [
    addScripts(session, request),
    checkSelectors(session, request),
    addRules(session, interception, request, blocking),
  ];
  if (request.cookies !== undefined) commands.push(setCookies(session, request));
  if (request.ignoreCertErrors) {
    commands.push(session.send('Security.setIgnoreCertificateErrors', { ignore: true }));
  }
  return {
    fetchedUrl: request.target.url,
    interception,
    // A worker that has ended refuses every command.
    blockIn: (worker) => void new Interception(worker).add(...blocking).catch(() => undefined),
    drawn: UNLIMITED,
    shown: UNLIMITED,
    preparedFrames: new Map(),
    changed: new Map(),
    brokenOff: null,
    banner: null,
    ready: Promise.all(commands),
  };
}

/** Adds those of the rules that block requests to `blocking`, too. */
async function addRules(
  session: PageSession,
  interception: Interception,
  request: CaptureRequest,
  blocking: InterceptionRule[],
): Promise<void> {
  const rules = ownOriginRules(session, request);
  if (request.block !== undefined || request.blockAds || request.html !== undefined) {
    const { frameTree } = await session.send('Page.getFrameTree');
    const isPageItself: IsPageItself = ({ frameId, resourceType }) =>
      resourceType === 'Document' && frameId === frameTree.frame.id;
    blocking.push(...blockRules(request, isPageItself));
    if (request.blockAds) blocking.push(await adRule(request.target.url, isPageItself));
    if (request.html !== undefined) rules.push(givenHtml(session, request.html, isPageItself));
  }
  await interception.add(...rules, ...blocking);
}
