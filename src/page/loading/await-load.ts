import type { Deadline } from '../../capture/deadline.ts';
import { CapstanError } from '../../capture/errors.ts';
import { type CaptureRequest, hasNetwork } from '../../capture/request.ts';
import { askPage } from '../asking/ask-page.ts';
import { type Call, call } from '../asking/page-scripts.ts';
import type { IsolatedPage } from '../isolated-page.ts';
import { waitWithin } from '../wait/wait-within.ts';
import { holdStill } from './hold-still.ts';
import { loadMilestone } from './milestone.ts';
import { whyUnreachable } from './navigate.ts';

/** The page that Chromium opens in place of an invalid URL. */
const BLOCKED = 'about:blank#blocked';

/**
 * Waits until the page has loaded (`DOMContentLoaded`, where the request asks for that) and is not navigating. Resolves
 * with false when the waiting time was over first, or when the document broke off, and stops what would keep the page
 * from being captured then. Throws as `navigate` does when the page navigated to a dead URL, or to a document that
 * broke off at once.
 */
export async function awaitLoad(page: IsolatedPage, request: CaptureRequest, deadline: Deadline): Promise<boolean> {
  const { frame } = page;
  const milestone = loadMilestone(request);
  const loaded = await waitWithin(
    page,
    deadline,
    'load',
    frame.until(() => frame.rests(milestone)),
  );
  refuseDeadUrl(page, request);
  if (loaded && (await brokeOff(page, deadline))) return false;
  if (!loaded && frame.leaving) await holdStill(page, deadline);
  // A style sheet that never arrives blocks rendering. After `Page.stopLoading` the page is rendered without it.
  else if (!loaded && !frame.painted) page.session.post('Page.stopLoading');
  return loaded;
}

/** Throws when the page navigated to a URL that the browser could not open: it shows a page of its own there. */
export function refuseDeadUrl({ frame, egressProxy }: IsolatedPage, request: CaptureRequest): void {
  const { unreachableUrl, url, urlFragment } = frame.document ?? {};
  if (`${url}${urlFragment}` === BLOCKED)
    throw new CapstanError('target_unreachable', 'the page sent itself to a URL that the browser does not open');
  if (unreachableUrl === undefined) return;
  if (!hasNetwork(request))
    throw new CapstanError('target_forbidden', 'given HTML has no network without allowNetwork');
  const silence = 'the page sent itself there, and nothing answered';
  const { code, reason } = whyUnreachable(egressProxy, unreachableUrl, silence);
  throw new CapstanError(code, reason);
}

const NOTHING_SHOWN = 'nothing of the document can be shown: its connection was closed, or its body cannot be decoded';

/**
 * Returns whether the connection ended before the document did, and stops such a document: Chromium goes on waiting for
 * the rest. Throws `target_unreachable` when nothing of it can be shown. Without `Network.enable`, Chromium drops what
 * came at the same time as the end.
 */
async function brokeOff(page: IsolatedPage, deadline: Deadline): Promise<boolean> {
  const { frame, visit, session } = page;
  const id = frame.document?.loaderId ?? null;
  if (!frame.stoppedEarly || visit.brokenOff === id) return frame.stoppedEarly;
  const ask = (expression: Call) => askPage(page, deadline, 'see whether the document is whole', expression);
  if ((await ask(call('isLoading'))) !== true) return false;
  if ((await ask(call('canBeDrawn'))) === false) {
    throw new CapstanError('target_unreachable', NOTHING_SHOWN);
  }
  visit.brokenOff = id;
  session.post('Page.stopLoading');
  return true;
}
