import { CapstanError } from '../../capture/errors.ts';
import type { CaptureRequest } from '../../capture/request.ts';
import type { EgressProxy } from '../../egress/egress.ts';
import type { Deadline } from '../deadline.ts';
import type { IsolatedPage } from './isolated-page.ts';
import type { Milestone } from './main-frame.ts';
import { openDownload, type StandIn } from './non-html/open-download.ts';
import { openUrl, whyUnreachable } from './open-url.ts';
import { waitWithin } from './wait/wait-within.ts';

/**
 * Sends the page to a URL. Resolves when a document is there, with the URL that was fetched, and with what the document
 * really is when a page of ours shows it;
 * throws a `CapstanError` that says why there is none: `target_unreachable`, `target_forbidden`, `not_a_page`.
 */
export async function navigate(
  page: IsolatedPage,
  egressProxy: EgressProxy,
  request: CaptureRequest,
  deadline: Deadline,
): Promise<{ readonly url: string; readonly standIn: StandIn | null }> {
  const opening = await openUrl(page, egressProxy, request, deadline);
  if (opening.came === 'nothing') throw new CapstanError(opening.failure.code, opening.failure.reason);
  const { came, url } = opening;
  return { url, standIn: came === 'download' ? await openDownload(page, request, url, deadline) : null };
}

/**
 * Waits until the page has come as far as the request wants (`load`, by default), and does not send itself on, or
 * until no more time is to be spent on waiting. Resolves with whether it has; throws as `navigate` does when the page
 * sent itself where nothing is.
 */
export async function awaitLoad(
  page: IsolatedPage,
  egressProxy: EgressProxy,
  request: CaptureRequest,
  deadline: Deadline,
): Promise<boolean> {
  const { frame } = page;
  const milestone = loadMilestone(request);
  const came = await waitWithin(
    page,
    deadline,
    'load',
    frame.until(() => frame.rests(milestone)),
  );
  const failed = frame.document?.unreachableUrl;
  if (failed !== undefined) {
    const { code, reason } = whyUnreachable(egressProxy, failed, 'the page sent itself there, and nothing answered');
    throw new CapstanError(code, reason);
  }
  // Style sheets that do not come keep everything from being shown: it is shown without them.
  if (!came && !frame.painted) page.session.post('Page.stopLoading');
  return came;
}

/** How far a document must have come before anything else is done with it. */
export function loadMilestone({ waitUntil }: CaptureRequest): Milestone {
  return waitUntil === 'domcontentloaded' ? 'DOMContentLoaded' : 'load';
}
