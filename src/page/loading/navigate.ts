import { type Deadline, within } from '../../capture/deadline.ts';
import { CapstanError, type Failure, failure } from '../../capture/errors.ts';
import type { CaptureRequest } from '../../capture/request.ts';
import { overHttp } from '../../capture/target.ts';
import type { EgressProxy } from '../../egress/egress.ts';
import type { IsolatedPage } from '../isolated-page.ts';
import { openDownload } from '../non-html/open-download.ts';
import type { StandIn } from '../non-html/show-pdf.ts';

/**
 * Navigates to the request's URL. Resolves once a document has committed, with facts about a download when a viewer
 * page shows one. Throws `target_unreachable`, `target_forbidden` or `not_a_page` when there is no document.
 */
export async function navigate(
  page: IsolatedPage,
  request: CaptureRequest,
  deadline: Deadline,
): Promise<StandIn | null> {
  const opening = await openUrl(page, request, deadline);
  if (opening.came === 'nothing') throw new CapstanError(opening.failure.code, opening.failure.reason);
  return opening.came === 'download' ? openDownload(page, request, deadline) : null;
}

/** The result of navigating the page. */
type Opening =
  | { readonly came: 'document' | 'download' }
  /** `answered`: whether the server responded, though not with a document. */
  | { readonly came: 'nothing'; readonly failure: Failure; readonly answered: boolean };

/** Sends the page to the URL of the request, then to `http` when its `https` was assumed and nothing answered there. */
async function openUrl(page: IsolatedPage, { target }: CaptureRequest, deadline: Deadline): Promise<Opening> {
  const { url } = target;
  const plainUrl = overHttp(target);
  if (plainUrl === undefined) return deadline.step('open the URL', attempt(page, url));
  const overTls = attempt(page, url);
  // The attempt over TLS may hang, and the one over http needs as much time.
  const first = await deadline.step('open the URL', within(deadline.waitingMs / 2, overTls, undefined));
  if (first !== undefined && (first.came !== 'nothing' || first.answered)) return first;
  page.visit.fetchedUrl = plainUrl;
  const second = await deadline.step('open the URL over http', attempt(page, plainUrl));
  if (second.came !== 'nothing' || second.failure.code !== 'target_unreachable') return second;
  const silence = first?.failure.reason ?? `no answer from ${url}`;
  return { ...second, failure: failure('target_unreachable', `${silence}; over http: ${second.failure.reason}`) };
}

async function attempt({ session, frame, egressProxy }: IsolatedPage, url: string): Promise<Opening> {
  const { errorText, isDownload, loaderId = '' } = await session.send('Page.navigate', { url });
  if (isDownload) return { came: 'download' };
  if (errorText === 'net::ERR_ABORTED') {
    const empty = failure('not_a_page', 'the target answered without any content');
    return { came: 'nothing', failure: empty, answered: true };
  }
  // The error page of an earlier attempt may come first.
  await frame.until(() => frame.hasShown(loaderId));
  if (errorText === undefined) return { came: 'document' };
  // The error page names the URL that failed, which may be a later hop of a redirect chain.
  const failedUrl = frame.document?.unreachableUrl ?? url;
  const answered = !isSamePlace(url, failedUrl) || !isSilence(egressProxy, failedUrl, errorText);
  return { came: 'nothing', failure: whyUnreachable(egressProxy, failedUrl, errorText), answered };
}

function isSamePlace(url: string, other: string): boolean {
  return URL.parse(url)?.origin === URL.parse(other)?.origin;
}

/** Chromium's errors when no server answers, or the server does not speak TLS. An invalid certificate is an answer. */
const SILENCES: ReadonlySet<string> = new Set([
  'net::ERR_CONNECTION_REFUSED',
  'net::ERR_CONNECTION_RESET',
  'net::ERR_CONNECTION_CLOSED',
  'net::ERR_CONNECTION_FAILED',
  'net::ERR_CONNECTION_TIMED_OUT',
  'net::ERR_TIMED_OUT',
  'net::ERR_ADDRESS_UNREACHABLE',
  'net::ERR_EMPTY_RESPONSE',
  'net::ERR_SSL_PROTOCOL_ERROR',
]);

function isSilence(egressProxy: EgressProxy, url: string, errorText: string): boolean {
  const known = egressProxy.failureFor(new URL(url));
  return known === null ? SILENCES.has(errorText) : known.code === 'target_unreachable';
}

/** Readable texts for Chromium errors that a user can act on; the others are passed on. */
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

/** Returns why a URL failed: it is invalid, or what the egress proxy knows of its host and port, else Chromium's text. */
export function whyUnreachable(egressProxy: EgressProxy, url: string, errorText: string): Failure {
  if (!URL.canParse(url)) return failure('target_unreachable', `${url} is not a valid URL`);
  const known = egressProxy.failureFor(new URL(url));
  return known ?? failure('target_unreachable', `${url}: ${REASONS[errorText] ?? errorText.replace('net::', '')}`);
}
