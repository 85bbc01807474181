import type { Deadline } from '../../capture/deadline.ts';
import { CapstanError } from '../../capture/errors.ts';
import type { Download } from '../../capture/failure-details.ts';
import { type CaptureRequest, showsMoreThanWindow } from '../../capture/request.ts';
import type { IsolatedPage } from '../isolated-page.ts';
import type { PausedRequest } from '../network/intercept.ts';
import { waitWithin } from '../wait/wait-within.ts';
import { PdfViewer, type ViewerWord } from './pdf-viewer.ts';
import { readBody } from './read-body.ts';

/**
 * Maximum size of a PDF, and of all PDFs in the frames of a page, in bytes. Larger ones take too long to draw, and
 * their bytes are held in memory.
 */
export const MAX_PDF_BYTES = 32 * 1024 * 1024;
/** Maximum height that is drawn, in CSS pixels: 65 MiB of canvases for each 16,384 px at the default width. */
const MAX_DRAWN_HEIGHT = 65_536;

/** The reason why a PDF is not shown. */
const REASONS: Readonly<Record<Exclude<ViewerWord, 'opened'>, string>> = {
  encrypted: 'the target is a PDF that needs a password',
  damaged: 'the target is a PDF that cannot be read: it is damaged, or none',
};

/** Facts about a downloaded document that is shown by a viewer page. */
export interface StandIn {
  readonly contentType: string;
  /** Size in bytes. */
  readonly contentLength: number;
}

interface OfferedPdf {
  readonly paused: PausedRequest;
  readonly download: Download;
  /** The navigation that waits for the response. */
  readonly navigating: Promise<unknown>;
}

/** Shows a PDF as a browser does. Rejects with `not_a_page` when it cannot be shown. */
export async function showPdf(
  page: IsolatedPage,
  request: CaptureRequest,
  { paused, download, navigating }: OfferedPdf,
  deadline: Deadline,
): Promise<StandIn> {
  const { session, frame } = page;
  const body = await readBody(session, paused.requestId, MAX_PDF_BYTES, deadline);
  if (body === null) {
    session.post('Fetch.failRequest', { requestId: paused.requestId, errorReason: 'Aborted' });
    const reason = `the target is a PDF of more than ${MAX_PDF_BYTES / 1024 / 1024} MiB`;
    throw new CapstanError('not_a_page', reason, { download });
  }
  const contentLength = sizeOf(body);
  const task = { name: download.name, drawnHeight: drawnHeight(request), bytes: contentLength };
  page.visit.drawn = { height: MAX_DRAWN_HEIGHT, cause: 'limit' };
  const viewer = new PdfViewer(session, body, task);
  await page.visit.interception.add(viewer.ruleIn(session));
  const before = frame.document;
  viewer.show(paused);
  await deadline.step('show the PDF', navigating);
  const shown = frame.until(() => frame.document !== before);
  if (!(await waitWithin(page, deadline, 'show the PDF', Promise.all([shown, viewer.word])))) {
    throw new CapstanError('capture_timeout', 'when its time was over, the PDF had not been opened');
  }
  const word = await viewer.word;
  if (word === 'opened') return { contentType: download.type, contentLength };
  throw new CapstanError('not_a_page', REASONS[word], { download: { ...download, bytes: contentLength } });
}

/** Returns the size of a body in bytes. */
export function sizeOf(body: readonly Buffer[]): number {
  return body.reduce((sum, piece) => sum + piece.byteLength, 0);
}

/** Returns the height to draw: the maximum of a screenshot, when more than the window may be captured. */
function drawnHeight(request: CaptureRequest): number | null {
  return showsMoreThanWindow(request) ? MAX_DRAWN_HEIGHT : null;
}
