import { z } from 'zod';
import type { Deadline } from '../../capture/deadline.ts';
import type { Rectangle } from '../../capture/options/screenshot.ts';
import { CdpError } from '../../cdp/connection.ts';
import { contextIn, evaluate, unblocked, untilAnswered } from '../asking/ask-page.ts';
import { call, functionOf, type ResultOf } from '../asking/page-scripts.ts';
import { type SearchedDocument, searchedDocuments } from '../find/documents.ts';
import { prepare } from '../find/prepared-frames.ts';
import type { IsolatedPage } from '../isolated-page.ts';
import { drawn } from './drawn.ts';
import { visibleBox } from './visible-box.ts';

/** The box of an element as far as it is visible, in CSS pixels of the page, and whether more of it is cut off. */
export type Found = 'absent' | 'invisible' | (Rectangle & { readonly isCut: boolean });

/** Maximum number of matches of a document that are looked at, one after the other, until one is visible. */
const MAX_LOOKS = 100;

const found: z.ZodType<ResultOf<'findVisible'>> = z.union([z.enum(['absent', 'invisible']), z.number()]);

const scrolled: z.ZodType<ResultOf<'scrollToTop'>> = z.object({ x: z.number(), y: z.number() });

/** Whether a box is on the page. */
type OnPage = (box: Rectangle) => boolean;

/**
 * Returns the box of the first visible match on the page, or the reason why there is none. If all visible matches are
 * outside the page, returns the box of the first. Scroll containers and frames within the page are scrolled to it; the
 * page itself stays at its top.
 */
export async function scrollToElement(
  page: IsolatedPage,
  selector: string,
  deadline: Deadline,
  isOnPage: OnPage,
): Promise<Found> {
  return untilAnswered(deadline, 'look for the selector', async () => {
    const documents = await searchedDocuments(page, selector, deadline);
    if (documents === undefined) return undefined;
    let best: Found = 'absent';
    for (const document of documents) {
      const box = await unblocked(document, deadline, findIn(page, document, isOnPage));
      if (box === undefined || (typeof box !== 'string' && isOnPage(box))) return box;
      if (typeof best === 'string' && box !== 'absent') best = box;
    }
    return best;
  });
}

/** Looks in one document; resolves with undefined when it, or one around it, was replaced meanwhile. */
async function findIn(page: IsolatedPage, document: SearchedDocument, isOnPage: OnPage): Promise<Found | undefined> {
  let best: Found = 'invisible';
  for (let [from, looks] = [0, 0]; looks < MAX_LOOKS; looks += 1) {
    const answer = await prepare(
      page,
      document,
      call('findVisible', document.steps, from, document.entrance !== undefined),
    );
    if (answer === undefined) return undefined;
    const at = found.parse(answer);
    if (typeof at === 'string') return at === 'absent' ? at : best;
    const box = await boxOfNoted(page, document);
    if (box === undefined || (typeof box !== 'string' && isOnPage(box))) return box;
    if (typeof best === 'string') best = box;
    from = at + 1;
  }
  return best;
}

/** Resolves with the box of the element that a document has noted, as `findIn` does. */
async function boxOfNoted(
  page: IsolatedPage,
  document: SearchedDocument,
): Promise<Exclude<Found, 'absent'> | undefined> {
  for (let at = document; at.entrance !== undefined; at = at.entrance.from) {
    const isShown = await revealFrame(at, at.entrance.from);
    if (isShown !== true) return isShown === false ? 'invisible' : undefined;
  }
  const { data: offset } = scrolled.safeParse(await evaluate(page, call('scrollToTop')));
  const box = await visibleBox(document);
  if (offset === undefined || box === undefined) return undefined;
  // The screenshot does not wait for what another process draws after it was scrolled.
  if (document.session !== page.session) await drawn(document);
  return box === null ? 'invisible' : { ...box, x: box.x + offset.x, y: box.y + offset.y };
}

/** Scrolls the document around a frame to its element. Resolves with whether that is visible. */
async function revealFrame({ frame }: SearchedDocument, from: SearchedDocument): Promise<unknown> {
  const { session } = from;
  try {
    const [{ backendNodeId }, executionContextId] = await Promise.all([
      session.send('DOM.getFrameOwner', { frameId: frame.id }),
      contextIn(from),
    ]);
    const { object } = await session.send('DOM.resolveNode', { backendNodeId, executionContextId });
    if (object.objectId === undefined) return undefined;
    const { result } = await session.send('Runtime.callFunctionOn', {
      functionDeclaration: functionOf('revealElement'),
      arguments: [{ objectId: object.objectId }, { value: from.entrance !== undefined }],
      executionContextId,
      returnByValue: true,
    });
    return result.value;
  } catch (error) {
    if (error instanceof CdpError) return undefined;
    throw error;
  }
}
