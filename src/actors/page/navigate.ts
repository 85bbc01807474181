import type { CaptureRequest } from '../../capture-request.ts';
import type { EgressLane } from '../../egress/egress.ts';
import { CapstanError } from '../../errors.ts';
import { type Deadline, within } from '../deadline.ts';
import type { IsolatedPage } from './isolated-page.ts';
import type { Milestone } from './main-frame.ts';
import { PageCrashedError, waitWithin } from './moment/wait-within.ts';

/** Longest wait for the event that names a download. It comes within a few milliseconds. */
const DOWNLOAD_NAME_MS = 500;

/** Longest that a page whose time is over is waited for until it shows something. */
const PAINT_MS = 500;

/**
 * Sends the page to a URL. Resolves when a document is there; throws a `CapstanError` that says why there is none:
 * `target_unreachable`, `target_forbidden`, `not_a_page`.
 */
export async function navigate(
  page: IsolatedPage,
  lane: EgressLane,
  { url }: CaptureRequest,
  deadline: Deadline,
): Promise<void> {
  const { errorText, isDownload } = await deadline.step('open the URL', page.session.send('Page.navigate', { url }));
  if (isDownload) throw await download(page);
  if (errorText === 'net::ERR_ABORTED') throw new CapstanError('not_a_page', 'the target answered without any content');
  if (errorText !== undefined) {
    // Which hop of a chain of redirects failed is told by the error page that follows.
    await deadline.step(
      'open the URL',
      page.frame.until(() => page.frame.document !== null),
    );
    throw unreachable(lane, page.frame.document?.unreachableUrl ?? url, errorText);
  }
  await deadline.step(
    'open the URL',
    page.frame.until(() => page.frame.document !== null),
  );
}

/**
 * Waits until the page has come as far as the request wants (`load`, by default), and does not send itself on, or
 * until no more time is to be spent on waiting. Resolves with whether it has; throws as `navigate` does when the page
 * sent itself where nothing is.
 */
export async function awaitLoad(
  page: IsolatedPage,
  lane: EgressLane,
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
  if (failed !== undefined) throw unreachable(lane, failed, 'the page sent itself there, and nothing answered');
  // Style sheets that do not come keep everything from being shown: it is shown without them.
  if (!came && !frame.painted) page.session.post('Page.stopLoading');
  return came;
}

/** How far a document must have come before anything else is done with it. */
export function loadMilestone({ waitUntil }: CaptureRequest): Milestone {
  return waitUntil === 'domcontentloaded' ? 'DOMContentLoaded' : 'load';
}

/** For a page whose time is over: resolves when it shows something, rejects with `capture_timeout` when it does not. */
export async function demandPaint({ frame }: IsolatedPage, deadline: Deadline): Promise<void> {
  const patienceMs = Math.min(PAINT_MS, deadline.remainingMs / 2);
  const painted = frame.until(() => frame.painted || frame.crashed);
  await deadline.step('paint', within(patienceMs, painted, undefined));
  if (frame.crashed) throw new PageCrashedError();
  if (!frame.painted) throw new CapstanError('capture_timeout', 'when its time was over, the page had shown nothing');
}

/** Chromium's texts for what a person can act on; the others are told as they are. */
const REASONS: Readonly<Record<string, string>> = {
  'net::ERR_EMPTY_RESPONSE': 'the connection was closed without a response',
  'net::ERR_CONNECTION_RESET': 'the connection was reset',
  'net::ERR_CONNECTION_CLOSED': 'the connection was closed',
  'net::ERR_TOO_MANY_REDIRECTS': 'it redirects too many times',
  'net::ERR_INVALID_RESPONSE': 'the response is not valid HTTP',
  'net::ERR_INVALID_HTTP_RESPONSE': 'the response is not valid HTTP',
  'net::ERR_CERT_DATE_INVALID': 'its TLS certificate has expired, or is not valid yet',
  'net::ERR_CERT_AUTHORITY_INVALID': 'its TLS certificate is not from an authority that is trusted',
  'net::ERR_CERT_COMMON_NAME_INVALID': 'its TLS certificate is for another name',
  'net::ERR_SSL_PROTOCOL_ERROR': 'it does not speak TLS there',
};

function unreachable(lane: EgressLane, url: string, errorText: string): CapstanError {
  const known = URL.canParse(url) ? lane.failureFor(new URL(url)) : null;
  if (known !== null) return new CapstanError(known.code, known.reason);
  return new CapstanError('target_unreachable', `${url}: ${REASONS[errorText] ?? errorText.replace('net::', '')}`);
}

/** The event that names the file may come before or after the answer that there is no document. */
async function download(page: IsolatedPage): Promise<CapstanError> {
  const file = await within(DOWNLOAD_NAME_MS, page.download, 'its name is not known');
  return new CapstanError('not_a_page', `the target is a download (${file}), not a page`);
}
