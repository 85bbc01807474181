import { STATUS_CODES } from 'node:http';
import { z } from 'zod';
import type { Deadline } from '../capture/deadline.ts';
import type { Snapshot } from '../capture/snapshot.ts';
import { evaluate, letGo } from './ask-page.ts';
import type { IsolatedPage } from './isolated-page.ts';
import { SERIALISE, wholeHtml } from './read-html.ts';
import { SIGNS, type Signs, signsSchema } from './signs.ts';
import { textBeginning } from './text-in-parts.ts';

/** Maximum time for a loaded page to render what it has loaded. */
const SETTLE_MS = 2_000;
const MAX_TITLE_CHARACTERS = 4096;
const MAX_URL_CHARACTERS = 8192;

/** Facts that the document itself reports. */
export interface DocumentFacts
  extends Pick<
    Snapshot,
    'finalUrl' | 'title' | 'responseCode' | 'responseReason' | 'contentType' | 'contentLength' | 'protocol' | 'html'
  > {
  /** Facts that a verdict is based on; null when the page hides it. */
  readonly signs: Signs | null;
  /** True when an endless script had to be terminated to read the document. */
  readonly interrupted: boolean;
}

const observed = z.object({
  url: z.string(),
  title: z.string(),
  status: z.number(),
  bytes: z.number(),
  protocol: z.string(),
  document: textBeginning,
  signs: signsSchema.nullable(),
});

/**
 * Lets a loaded page settle (images decoded, two frames drawn), then reads its document. Runs in an isolated world,
 * where the page's scripts cannot change what it calls. Undefined when the page navigated to another document
 * meanwhile.
 */
export async function observeDocument(
  page: IsolatedPage,
  deadline: Deadline,
  options: { readonly loaded: boolean; readonly beyondWindow: boolean },
): Promise<DocumentFacts | undefined> {
  const { document } = page.frame;
  if (document === null) return undefined;
  // An endless script blocks the renderer: it is terminated when its time is over.
  const patienceMs = options.loaded ? Math.max(SETTLE_MS, deadline.waitingMs) : deadline.remainingMs / 3;
  let interrupted = false;
  const endScripts = setTimeout(
    () => {
      interrupted = true;
      page.session.post('Runtime.terminateExecution');
      // The page cannot answer either while it waits for another document that never arrives.
      if (page.frame.leaving) page.session.post('Page.stopLoading');
    },
    Math.min(patienceMs, deadline.remainingMs * 0.8),
  );
  try {
    const { loaded, beyondWindow } = options;
    const observe = `(${OBSERVE})(${loaded ? SETTLE_MS : 0}, ${beyondWindow}).then(${WITH_SIGNS})`;
    const value = await deadline.step('read the document', evaluate(page, observe, { mayThrow: true }));
    if (value === undefined) return undefined;
    const ask = (expression: string) => letGo(page, deadline, evaluate(page, expression, { mayThrow: true }));
    const facts = await deadline.step('read the document', documentFacts(value, document.mimeType, ask));
    return facts && { ...facts, interrupted };
  } finally {
    clearTimeout(endScripts);
  }
}

/**
 * Resolves with the facts that `OBSERVE` returns. `ask` reads what it left in its world. Undefined when the document
 * was replaced meanwhile.
 */
export async function documentFacts(
  value: unknown,
  contentType: string,
  ask: (expression: string) => Promise<unknown>,
): Promise<Omit<DocumentFacts, 'interrupted'> | undefined> {
  const { url, title, status, bytes, protocol, document, signs } = observed.parse(value);
  const html = await wholeHtml(document, ask);
  if (html === undefined) return undefined;
  return {
    finalUrl: url,
    title,
    responseCode: status,
    responseReason: STATUS_CODES[status] ?? '',
    contentType,
    contentLength: bytes,
    protocol,
    html,
    signs,
  };
}

/**
 * Runs in the page, with the time to settle in milliseconds, and whether the picture shows more than the window: images
 * that it does not show are not decoded. Reads the status of the main document from Navigation Timing, which works
 * without `Network.enable`.
 */
export const OBSERVE = `async (settleMs, beyondWindow) => {
  if (settleMs > 0) {
    const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
    const isShown = (image) => {
      const { left, top, right, bottom } = image.getBoundingClientRect();
      return right > 0 && bottom > 0 && left < innerWidth && top < innerHeight;
    };
    const pictures = Array.from(
      document.images,
      (image) => image.complete && (beyondWindow || isShown(image)) && image.decode(),
    );
    const decoded = Promise.allSettled([...pictures, document.fonts.status === 'loading' && document.fonts.ready]);
    const settled = decoded.then(frame).then(frame);
    await Promise.race([settled, new Promise((resolve) => setTimeout(resolve, settleMs))]);
  }
  const navigation = performance.getEntriesByType('navigation')[0];
  return {
    url: document.URL.slice(0, ${MAX_URL_CHARACTERS}),
    title: document.title.slice(0, ${MAX_TITLE_CHARACTERS}).toWellFormed(),
    status: navigation ? navigation.responseStatus : 0,
    bytes: navigation ? navigation.encodedBodySize || navigation.decodedBodySize : 0,
    protocol: navigation ? navigation.nextHopProtocol : '',
    document: (${SERIALISE})(),
  };
}`;

/** Runs in the page: adds what the page shows to what `OBSERVE` has read. */
export const WITH_SIGNS = `(seen) => ({ ...seen, signs: (${SIGNS})() })`;
