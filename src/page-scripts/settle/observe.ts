import { boxOf, decode, fontsOf, imagesOf, isComplete, type PageElement, page, titleOf, urlOf } from '../dom/dom.ts';
import { web } from '../dom/web.ts';
import { nextFrame } from '../running/frames.ts';
import { inParts, type TextBeginning } from '../running/in-parts.ts';
import { serialise } from './serialise.ts';

const MAX_TITLE_CHARACTERS = 4096;
const MAX_URL_CHARACTERS = 8192;
/** Maximum number of characters of a serialised document. A hostile page can grow without end; real pages do not. */
const MAX_HTML_CHARACTERS = 32 * 1024 * 1024;

/** Facts that a document reports of itself. */
export interface Observed {
  readonly url: string;
  readonly title: string;
  readonly status: number;
  /** Size of the response's body. */
  readonly bytes: number;
  readonly protocol: string;
  readonly document: TextBeginning;
}

/**
 * Lets the document settle for at most this time (images decoded, two frames drawn), then reads it. `beyondWindow`:
 * whether the picture shows more than the window; images that it does not show are not decoded. The status of the main
 * document is in Navigation Timing, which works without `Network.enable`.
 */
export async function observe(settleMs: number, beyondWindow: boolean): Promise<Observed> {
  if (settleMs > 0) await settle(settleMs, beyondWindow);
  const [navigation] = web.performance.getEntriesByType('navigation');
  return {
    url: urlOf(page).slice(0, MAX_URL_CHARACTERS),
    title: titleOf(page).slice(0, MAX_TITLE_CHARACTERS).toWellFormed(),
    status: navigation?.responseStatus ?? 0,
    bytes: navigation ? navigation.encodedBodySize || navigation.decodedBodySize : 0,
    protocol: navigation?.nextHopProtocol ?? '',
    document: inParts(serialise().slice(0, MAX_HTML_CHARACTERS).toWellFormed()),
  };
}

async function settle(ms: number, beyondWindow: boolean): Promise<void> {
  const images = imagesOf(page).map(
    (image) => isComplete(image) && (beyondWindow || isInWindow(image)) && decode(image),
  );
  const fonts = fontsOf(page);
  const decoded = Promise.allSettled([...images, fonts.status === 'loading' && fonts.ready]);
  const settled = decoded.then(nextFrame).then(nextFrame);
  await Promise.race([settled, new Promise<void>((resolve) => web.setTimeout(resolve, ms))]);
}

function isInWindow(element: PageElement): boolean {
  const { left, top, right, bottom } = boxOf(element);
  return right > 0 && bottom > 0 && left < web.innerWidth && top < web.innerHeight;
}
