import { STATUS_CODES } from 'node:http';
import { CdpError } from '../cdp/connection.ts';
import type { IsolatedPage } from './isolated-page.ts';
import type { DocumentFacts } from './observe-document.ts';
import type { RunningCapture, Taken } from './running-capture.ts';
import { isOneColour } from './screenshot/is-one-colour.ts';
import { lastFrame, mayShowWindow, screenshotOf } from './screenshot/last-frame.ts';
import { resizeImage } from './screenshot/resize-image.ts';

/** Times before the deadline at which the last frame is requested, and at which it replaces the screenshot. */
const REQUEST_MS = 800;
const USE_MS = 300;
/** Maximum of each of these times, as a share of the capture's time limit. */
const MAX_SHARE = 0.3;
/**
 * Minimum of each of these times while the document has not been read, as a share of the time that is reserved for a
 * screenshot: a screenshot is unlikely then, and a busy computer takes a second to draw the frame and to encode it.
 */
const UNREAD_REQUEST_SHARE = 0.4;
const UNREAD_USE_SHARE = 0.2;

/**
 * Resolves shortly before the deadline with the last frame of the window in place of a screenshot that has not come:
 * the main thread of a page can be busy for longer than any screenshot waits. Does not resolve when there is a
 * screenshot, or when the page shows nothing.
 */
export async function salvage({ page, request, plan, deadline, found }: RunningCapture): Promise<Taken> {
  const never = new Promise<never>(() => {});
  // A page that does not answer cannot be searched for an unwanted text.
  const mayRefuse = (request.failOnStatus ?? request.failOnText) !== undefined;
  if (mayRefuse || !mayShowWindow(plan)) return never;
  const share = request.timeoutMs * MAX_SHARE;
  /** Resolves `unreadMs` before the deadline if the document has not been read by then, otherwise `ms` before it. */
  const comes = async (unreadMs: number, ms: number) => {
    await deadline.comes(Math.max(unreadMs, ms));
    if (found.facts !== undefined) await deadline.comes(ms);
  };
  await comes(deadline.reserveMs * UNREAD_REQUEST_SHARE, Math.min(REQUEST_MS, share));
  if (found.screenshot !== undefined || page.frame.document === null) return never;
  const drawing = viewOf(page);
  // It is awaited later. If the page ends before, the steps of the capture report it.
  drawing.catch(() => undefined);
  await comes(deadline.reserveMs * UNREAD_USE_SHARE, Math.min(USE_MS, share / 2));
  let view = await drawing;
  // Since then, another document has come, or this one has been painted.
  if (page.frame.document !== view.document || page.frame.painted !== view.painted) view = await viewOf(page);
  const { frame, painted } = view;
  if (found.screenshot !== undefined || frame === null) return never;
  if (!painted && (await isOneColour(frame))) return never;
  return {
    facts: found.facts ?? (await shownDocument(page)),
    cutPhase: found.cutPhase ?? deadline.phase,
    screenshot: await resizeImage({ ...(await screenshotOf(frame, plan)), part: null, isPartial: true }, plan),
  };
}

/** The last frame of the page, with the document that it shows. Chromium refuses a second request before the answer. */
async function viewOf({ session, frame }: IsolatedPage) {
  const drawn = await lastFrame(session);
  return { frame: drawn, document: frame.document, painted: frame.painted };
}

/** The facts that the browser process knows about a document whose main thread is blocked. */
async function shownDocument({ session, frame }: IsolatedPage): Promise<DocumentFacts> {
  const { url = '', mimeType = '' } = frame.document ?? {};
  const { status, protocol } = frame.response;
  const history = await session.send('Page.getNavigationHistory').catch((error: unknown) => {
    if (error instanceof CdpError) return null;
    throw error;
  });
  const entry = history?.entries[history.currentIndex];
  return {
    finalUrl: entry?.url ?? url,
    title: entry?.title ?? '',
    responseCode: status,
    responseReason: STATUS_CODES[status] ?? '',
    contentType: mimeType,
    contentLength: 0,
    protocol,
    html: '',
    signs: null,
  };
}
