import type { Protocol } from 'devtools-protocol';
import { type Deadline, within } from '../../capture/deadline.ts';
import { CdpError } from '../../cdp/connection.ts';
import { contextIn, evaluate } from '../asking/ask-page.ts';
import { call } from '../asking/page-scripts.ts';
import { readStream } from '../asking/read-stream.ts';
import type { PageSession } from '../frames/page-session.ts';
import type { IsolatedPage } from '../isolated-page.ts';
import type { PausedRequest } from '../network/intercept.ts';
import { waitWithin } from '../wait/wait-within.ts';
import type { FrameDownload } from './frame-downloads.ts';
import { PdfViewer } from './pdf-viewer.ts';
import { PART_BYTES, readBody } from './read-body.ts';
import { isShownPdf, repeatRequest } from './repeat-request.ts';
import { MAX_PDF_BYTES, sizeOf } from './show-pdf.ts';

/** Maximum time that a script of the page may block the search for elements, in milliseconds. */
const LOOK_MS = 500;
/** Maximum time until the PDFs of elements begin to arrive, in milliseconds. */
const LOAD_MS = 3_000;
/** Maximum time for the PDFs in the frames of a page, in milliseconds. */
const MAX_MS = 15_000;

/**
 * Shows the PDFs that frames of the page have downloaded since the last call: as much of each as its frame shows.
 * Resolves with false when the time was over first.
 */
export async function showFramedPdfs(page: IsolatedPage, deadline: Deadline): Promise<boolean> {
  const started = await deadline.step('look for PDFs', page.frames.downloads.take());
  const downloads = started.filter(({ frameId }) => frameId !== page.frame.id);
  if (downloads.length === 0) return true;
  const over = new AbortController();
  const showing = async () => {
    for (const download of downloads) {
      if (over.signal.aborted) return;
      await showIn(page, download, deadline, over.signal);
    }
  };
  return waitWithin(page, deadline, 'show the PDFs in frames', showing(), MAX_MS).finally(() => over.abort());
}

/**
 * Shows the PDFs in the `<embed>` and `<object>` elements of the page, and in frames that came after its load. Resolves
 * as `showFramedPdfs` does.
 */
export async function showEmbeddedPdfs(page: IsolatedPage, deadline: Deadline): Promise<boolean> {
  const looking = within(LOOK_MS, evaluate(page, call('framePdfs'), { mayThrow: true }), undefined);
  const count = await deadline.step('look for PDFs', looking);
  if (typeof count === 'number' && count > 0) {
    const maxMs = Math.min(LOAD_MS, deadline.waitingMs);
    await deadline.step('load the PDFs of elements', page.frames.downloads.wait(count, maxMs));
  }
  return showFramedPdfs(page, deadline);
}

/** A frame whose PDF cannot be shown stays as it is; so does one that has been removed. */
async function showIn(
  page: IsolatedPage,
  download: FrameDownload,
  deadline: Deadline,
  over: AbortSignal,
): Promise<void> {
  const show = /^https?:/i.test(download.url) ? showRequested : showLocal;
  await show(page, download, deadline, over).catch((error: unknown) => {
    if (!(error instanceof CdpError)) throw error;
  });
}

async function showRequested(
  page: IsolatedPage,
  download: FrameDownload,
  deadline: Deadline,
  over: AbortSignal,
): Promise<void> {
  const { session } = page;
  const { paused, navigating } = await repeatRequest(page, download.frameId, download.url);
  if (paused === undefined) return;
  const body = isShownPdf(paused) ? await readWhole(session, paused, bytesLeft(page), deadline) : null;
  if (body === null || over.aborted) {
    session.post('Fetch.failRequest', { requestId: paused.requestId, errorReason: 'Aborted' });
    return;
  }
  await draw(page, download, body, over, (viewer) => {
    viewer.show(paused);
    return navigating;
  });
}

/** Shows the PDF of a `data:` or `blob:` URL, whose response cannot be replaced: the frame leaves for the viewer. */
async function showLocal(
  page: IsolatedPage,
  download: FrameDownload,
  _deadline: Deadline,
  over: AbortSignal,
): Promise<void> {
  const { session } = page;
  const { frameId } = download;
  const body = await readLocal(page, download, bytesLeft(page));
  if (body === null || over.aborted) return;
  await draw(page, download, body, over, async ({ url }) => {
    const navigated = await session.send('Page.navigate', { url, frameId });
    // In place of the browser's error, where the policy of the page allows no viewer.
    if (navigated.errorText !== undefined) session.post('Page.navigate', { url: 'about:blank', frameId });
    return navigated;
  });
}

/** Draws a PDF in the viewer that `open` opens in its frame. */
async function draw(
  { session, visit, frames: { downloads } }: IsolatedPage,
  { frameId, name }: FrameDownload,
  body: Buffer[],
  over: AbortSignal,
  open: (viewer: PdfViewer) => Promise<Protocol.Page.NavigateResponse>,
): Promise<void> {
  const bytes = sizeOf(body);
  downloads.shownBytes += bytes;
  const viewer = new PdfViewer(session, body, { name, drawnHeight: null, bytes });
  await visit.interception.add(viewer.rule);
  const close = () => viewer.close();
  const stops = closeWithFrame(viewer, session, frameId);
  over.addEventListener('abort', close);
  // A document that may not be framed has no viewer.
  open(viewer).then(({ errorText }) => errorText !== undefined && close(), close);
  await viewer.done;
  for (const stop of stops) stop();
}

/** Returns how much more of PDFs may be shown in the page, in bytes. */
function bytesLeft({ frames }: IsolatedPage): number {
  return MAX_PDF_BYTES - frames.downloads.shownBytes;
}

/** Reads a file that the page holds itself. Resolves with null when it is too large, or the page may not read it. */
async function readLocal(
  { session }: IsolatedPage,
  { frameId, url }: FrameDownload,
  maxBytes: number,
): Promise<Buffer[] | null> {
  const contextId = await contextIn({ session, frame: { id: frameId } });
  const asked = { expression: call('blobOf', url), contextId, awaitPromise: true };
  const { objectId } = (await session.send('Runtime.evaluate', asked)).result;
  if (objectId === undefined) return null;
  const { uuid } = await session.send('IO.resolveBlob', { objectId });
  return readStream(session, `blob:${uuid}`, PART_BYTES, maxBytes);
}

/**
 * Closes the viewer when its frame is removed, or is no longer loading: a viewer page that may run scripts loads until
 * all is drawn. Returns functions that stop listening.
 */
function closeWithFrame(viewer: PdfViewer, session: PageSession, frameId: string): readonly (() => void)[] {
  const closeOn = (event: { readonly frameId: string }) => {
    if (event.frameId === frameId) viewer.close();
  };
  return [session.on('Page.frameStoppedLoading', closeOn), session.on('Page.frameDetached', closeOn)];
}

/** Resolves with null for a body that is too large or breaks off. */
function readWhole(
  session: PageSession,
  { requestId }: PausedRequest,
  maxBytes: number,
  deadline: Deadline,
): Promise<Buffer[] | null> {
  return readBody(session, requestId, maxBytes, deadline).catch(() => null);
}
