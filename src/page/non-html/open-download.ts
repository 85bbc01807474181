import { type Deadline, within } from '../../capture/deadline.ts';
import { CapstanError } from '../../capture/errors.ts';
import type { Download } from '../../capture/failure-details.ts';
import type { CaptureRequest } from '../../capture/request.ts';
import type { IsolatedPage } from '../isolated-page.ts';
import type { PausedRequest } from '../network/intercept.ts';
import { fileName } from './file-name.ts';
import { headerOf, isShownPdf, repeatRequest, typeOf } from './repeat-request.ts';
import { type StandIn, showPdf } from './show-pdf.ts';

/** Time limit for the event that names a download, in milliseconds. It usually arrives within a few milliseconds. */
const NAME_MS = 500;
const MAX_TYPE_CHARACTERS = 255;

/**
 * Repeats the request for a URL that Chromium treated as a download, and inspects the response. Shows a PDF; fails with
 * `not_a_page` for everything else, with its name, type and size.
 */
export async function openDownload(page: IsolatedPage, request: CaptureRequest, deadline: Deadline): Promise<StandIn> {
  // The name that Chromium derives from Content-Disposition and the URL. It arrives before or after the answer to
  // Page.navigate.
  const name = within(NAME_MS, page.download, 'download').then(fileName);
  const { paused, navigating } = await deadline.step(
    'look at the download',
    repeatRequest(page, page.frame.id, page.visit.fetchedUrl),
  );
  const download = { name: await name, ...factsOf(paused) };
  if (paused === undefined) throw notAPage(download);
  if (isShownPdf(paused)) {
    return showPdf(page, request, { paused, download, navigating }, deadline);
  }
  page.session.post('Fetch.failRequest', { requestId: paused.requestId, errorReason: 'Aborted' });
  throw notAPage(download);
}

function factsOf(paused: PausedRequest | undefined): Omit<Download, 'name'> {
  if (paused === undefined) return { type: '', bytes: null };
  const length = headerOf(paused, 'content-length');
  const bytes = length !== undefined && /^\d{1,15}$/.test(length) ? Number(length) : null;
  return { type: typeOf(paused).slice(0, MAX_TYPE_CHARACTERS), bytes };
}

function notAPage(download: Download): CapstanError {
  return new CapstanError('not_a_page', `the target is a download (${download.name}), not a page`, { download });
}
