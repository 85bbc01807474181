import { STATUS_CODES } from 'node:http';
import type { CapturePhase } from '../../capture/phases.ts';
import type { CaptureRequest } from '../../capture/request.ts';
import { CdpError } from '../cdp/connection.ts';
import type { Deadline } from '../deadline.ts';
import { isOneColour } from './is-one-colour.ts';
import type { IsolatedPage } from './isolated-page.ts';
import type { DocumentFacts } from './observe-document.ts';
import { lastFrame, mayShowWindow, pictureOf } from './screenshot/last-frame.ts';
import type { Picture } from './screenshot/picture.ts';
import { resizeImage, withoutLoss } from './screenshot/resize-image.ts';

/** Times before the deadline at which the last frame is requested, and at which it replaces the screenshot. */
const REQUEST_MS = 800;
const USE_MS = 300;
/** Maximum of each of these times, as a share of the capture's time limit. */
const MAX_SHARE = 0.3;
/**
 * Minimum of each of these times while nothing is known about the document, as a share of the time that is reserved for
 * a screenshot: it will hardly come, and a busy computer takes a second to draw a frame and to encode it.
 */
const SILENT_REQUEST_SHARE = 0.5;
const SILENT_USE_SHARE = 0.25;

/** The parts of a capture that are known so far. */
export interface Found {
  facts?: Omit<DocumentFacts, 'interrupted'>;
  cutPhase?: CapturePhase | null;
  picture?: Picture;
}

/** A partial capture, made of the parts that were known at its deadline. */
export interface Salvage {
  readonly facts: Omit<DocumentFacts, 'interrupted'>;
  readonly cutPhase: CapturePhase;
  readonly picture: Picture;
}

/**
 * Resolves shortly before the deadline with the last frame of the window in place of a screenshot that has not come:
 * the main thread of a page can be busy for longer than any screenshot waits. Does not resolve when there is a
 * screenshot, or when the page shows nothing.
 */
export async function salvage(
  page: IsolatedPage,
  request: CaptureRequest,
  deadline: Deadline,
  found: Found,
): Promise<Salvage> {
  const never = new Promise<never>(() => {});
  if (!mayShowWindow(request)) return never;
  const share = request.timeoutMs * MAX_SHARE;
  /** Resolves `silentMs` before the deadline if nothing is known about the document then, and else `ms` before it. */
  const comes = async (silentMs: number, ms: number) => {
    await deadline.comes(Math.max(silentMs, ms));
    if (found.facts !== undefined) await deadline.comes(ms);
  };
  await comes(deadline.reserveMs * SILENT_REQUEST_SHARE, Math.min(REQUEST_MS, share));
  if (found.picture !== undefined || page.frame.document === null) return never;
  const drawing = lastFrame(page.session);
  const asking = shownDocument(page);
  // Both are awaited later. If the page ends before, the steps of the capture report it.
  for (const each of [drawing, asking]) each.catch(() => undefined);
  await comes(deadline.reserveMs * SILENT_USE_SHARE, Math.min(USE_MS, share / 2));
  const frame = await drawing;
  if (found.picture !== undefined || frame === null) return never;
  if (!page.frame.painted && (await isOneColour(frame))) return never;
  return {
    facts: found.facts ?? (await asking),
    cutPhase: found.cutPhase ?? deadline.phase,
    picture: await resizeImage({ ...(await pictureOf(frame, withoutLoss(request))), part: null, held: true }, request),
  };
}

/** The facts that the browser process knows about a document whose main thread is blocked. */
async function shownDocument({ session, frame }: IsolatedPage): Promise<Omit<DocumentFacts, 'interrupted'>> {
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
