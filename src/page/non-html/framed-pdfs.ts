import type { Protocol } from 'devtools-protocol';
import { type Deadline, within } from '../../capture/deadline.ts';
import { CdpError } from '../../cdp/connection.ts';
import { contextIn, evaluate } from '../asking/ask-page.ts';
import { call } from '../asking/page-scripts.ts';
import { readStream } from '../asking/read-stream.ts';
import type { ChildFrames } from '../frames/child-frames.ts';
import type { PageSession } from '../frames/page-session.ts';
import type { IsolatedPage } from '../isolated-page.ts';
import { Interception, type PausedRequest } from '../network/intercept.ts';
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
  const asked = evaluate(page, call('framePdfs', page.frames.downloads.room, bytesLeft(page)), { mayThrow: true });
  const looking = within(LOOK_MS, asked, undefined);
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
  const showing = /^https?:/i.test(download.url)
    ? showRequested(page, download, deadline, over)
    : showLocal(page, download, over);
  await showing.catch((error: unknown) => {
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

/**
 * Shows the PDF of a `data:` or `blob:` URL, whose response cannot be replaced: the frame leaves for the viewer. A frame
 * with content keeps it: the download may be that of a link.
 */
async function showLocal(page: IsolatedPage, download: FrameDownload, over: AbortSignal): Promise<void> {
  const { session } = page;
  const { frameId, url: source } = download;
  if ((await evaluate({ session, frame: { id: frameId } }, call('isInitial'))) !== true) return;
  const maxBytes = bytesLeft(page);
  const body = source.startsWith('data:')
    ? await decoded(source, maxBytes)
    : await readBlob(page, download, maxBytes, over);
  if (body === null || over.aborted) return;
  await draw(page, download, body, over, async ({ url }) => {
    const navigated = await session.send('Page.navigate', { url, frameId });
    // In place of the browser's error, where the policy of the page allows no viewer.
    if (navigated.errorText !== undefined) await session.send('Page.navigate', { url: 'about:blank', frameId });
    return navigated;
  });
}

/** Draws a PDF in the viewer that `open` opens in its frame. */
async function draw(
  { session, visit, frames }: IsolatedPage,
  { frameId, name }: FrameDownload,
  body: Buffer[],
  over: AbortSignal,
  open: (viewer: PdfViewer) => Promise<Protocol.Page.NavigateResponse>,
): Promise<void> {
  const bytes = sizeOf(body);
  frames.downloads.shownBytes += bytes;
  const viewer = new PdfViewer(session, body, { name, drawnHeight: null, bytes });
  await visit.interception.add(viewer.ruleIn(session));
  const close = () => viewer.close();
  const stops = closeWithFrame(viewer, session, frames, frameId);
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

/** Decodes a `data:` URL. Resolves with null when it is too large, or no PDF. */
async function decoded(url: string, maxBytes: number): Promise<Buffer[] | null> {
  const response = await fetch(url).catch(() => undefined);
  if (response === undefined) return null;
  const body = Buffer.from(await response.arrayBuffer());
  const type = response.headers.get('content-type') ?? '';
  const isPdf = /^application\/pdf\b/i.test(type) || body.toString('latin1', 0, 5) === '%PDF-';
  if (!isPdf || body.byteLength > maxBytes) return null;
  const parts = Math.ceil(body.byteLength / PART_BYTES);
  return Array.from({ length: parts }, (_, at) => body.subarray(at * PART_BYTES, (at + 1) * PART_BYTES));
}

/**
 * Reads a PDF that the page holds. Resolves with null when it is too large, or no PDF, or the page may not read it, or
 * the time is over.
 */
async function readBlob(
  { session }: IsolatedPage,
  { frameId, url }: FrameDownload,
  maxBytes: number,
  over: AbortSignal,
): Promise<Buffer[] | null> {
  const contextId = await contextIn({ session, frame: { id: frameId } });
  const asked = { expression: call('readPdf', url, maxBytes), contextId, awaitPromise: true };
  const { objectId } = (await session.send('Runtime.evaluate', asked)).result;
  if (objectId === undefined) return null;
  try {
    const handle = `blob:${(await session.send('IO.resolveBlob', { objectId })).uuid}`;
    return await readStream(session, handle, PART_BYTES, maxBytes, over).finally(() =>
      session.post('IO.close', { handle }),
    );
  } finally {
    session.post('Runtime.releaseObject', { objectId });
  }
}

/**
 * Closes the viewer when its frame is removed, or is no longer loading: a viewer page that may run scripts loads until
 * all is drawn. A viewer that gets a process of its own is answered there. Returns functions that stop listening.
 */
function closeWithFrame(
  viewer: PdfViewer,
  session: PageSession,
  frames: ChildFrames,
  frameId: string,
): readonly (() => void)[] {
  let moved = false;
  return [
    session.on('Page.frameStoppedLoading', (event) => {
      if (event.frameId === frameId && !moved) viewer.close();
    }),
    session.on('Page.frameDetached', ({ frameId: id, reason }) => {
      if (id === frameId && reason === 'remove') viewer.close();
    }),
    frames.onMove(frameId, (own) => {
      moved = true;
      // Rejects when the frame is removed, which closes the viewer.
      new Interception(own).add(viewer.ruleIn(own)).catch(() => undefined);
      own.on('Page.frameStoppedLoading', (event) => {
        if (event.frameId === frameId) viewer.close();
      });
      own.on('Inspector.detached', () => viewer.close());
    }),
  ];
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
