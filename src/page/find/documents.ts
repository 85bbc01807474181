import { parseSelector, type SelectorStep } from '../../capture/comparison/selector.ts';
import type { Deadline } from '../../capture/deadline.ts';
import { CapstanError } from '../../capture/errors.ts';
import { CdpError } from '../../cdp/connection.ts';
import { contextIn, evaluate, unblocked } from '../asking/ask-page.ts';
import { type Call, call } from '../asking/page-scripts.ts';
import type { EvaluatedFrame, PageSession } from '../frames/page-session.ts';
import type { IsolatedPage } from '../isolated-page.ts';

/** Maximum number of frames that a selector may enter. */
export const MAX_FRAMES = 100;
/** Group of handles that are released together. */
const HANDLES = 'capstan-find';

/** A document of the page, and the one that it was entered from; undefined for the page itself. */
export interface NestedFrame extends EvaluatedFrame {
  readonly entrance: { readonly from: NestedFrame } | undefined;
}

/** A document in which elements are looked for: the page, or a frame that a selector enters. */
export interface SearchedDocument extends NestedFrame {
  readonly steps: readonly SelectorStep[];
  readonly entrance: Entrance | undefined;
}

export interface Entrance {
  readonly from: SearchedDocument;
  /** The steps that match the element of the frame, and its number among the frames that they match. */
  readonly steps: readonly SelectorStep[];
  readonly index: number;
}

/**
 * Resolves with the documents in which a selector finds elements: the page, and the frames that its steps enter, outer
 * ones first. A selector without `>>` is for the page alone, which is not asked then. Resolves with undefined when a
 * document was replaced meanwhile; rejects with `page_too_large` when the selector enters too many frames.
 */
export async function searchedDocuments(
  page: IsolatedPage,
  selector: string,
  deadline: Deadline,
): Promise<readonly SearchedDocument[] | undefined> {
  const found: SearchedDocument[] = [];
  let [left, round] = [MAX_FRAMES, [documentIn(page, parseSelector(selector))]];
  const count = (frames: number) => {
    left -= frames;
    if (left >= 0) return;
    throw new CapstanError('page_too_large', `${JSON.stringify(selector)} enters more than ${MAX_FRAMES} frames`);
  };
  while (round.length > 0) {
    found.push(...round);
    const entering = round.map((document) => unblocked(document, deadline, enterFrames(page, document, count)));
    const entered = await Promise.all(entering);
    const answered = entered.filter((each) => each !== undefined);
    if (answered.length < entered.length) return undefined;
    round = answered.flat();
  }
  return found;
}

/**
 * Resolves with the first document in which a selector matches a visible element, or else with the first in which it
 * matches any; undefined when there is none. A document that does not answer within `timeoutMs` counts as one without a
 * match.
 */
export async function firstDocumentWith(
  page: IsolatedPage,
  selector: string,
  deadline: Deadline,
  timeoutMs: number,
): Promise<SearchedDocument | undefined> {
  let hidden: SearchedDocument | undefined;
  for (const document of (await searchedDocuments(page, selector, deadline)) ?? []) {
    const isVisible = await evaluate(document, call('firstMatchIsVisible', document.steps), { timeoutMs });
    if (isVisible === true) return document;
    if (isVisible === false) hidden ??= document;
  }
  return hidden;
}

function documentIn(
  { session, frame }: EvaluatedFrame,
  steps: readonly SelectorStep[],
  entrance?: Entrance,
): SearchedDocument {
  return { session, frame: { id: frame.id }, steps, entrance };
}

async function enterFrames(
  { frames }: IsolatedPage,
  document: SearchedDocument,
  count: (frames: number) => void,
): Promise<SearchedDocument[] | undefined> {
  const { steps } = document;
  const entered: SearchedDocument[] = [];
  try {
    for (let length = 1; length < steps.length; length += 1) {
      const before = steps.slice(0, length);
      const ids = await frameIds(document, call('findFrames', before, MAX_FRAMES + 1), { count });
      for (const [index, id] of ids.entries()) {
        if (id === undefined) continue;
        const session = frames.outOfProcess.get(id) ?? document.session;
        const entrance = { from: document, steps: before, index };
        entered.push(documentIn({ session, frame: { id } }, steps.slice(length), entrance));
      }
    }
  } catch (error) {
    if (error instanceof CdpError) return undefined;
    throw error;
  }
  return entered;
}

/**
 * Resolves with the ids of the frames whose elements the expression returns in a world of the document. The id is
 * undefined for a frame without a document.
 */
export async function frameIds(
  page: EvaluatedFrame,
  expression: Call,
  { count, world }: { readonly count?: (frames: number) => void; readonly world?: string },
): Promise<readonly (string | undefined)[]> {
  const { session } = page;
  const contextId = await contextIn(page, world);
  const { result } = await session.send('Runtime.evaluate', { expression, contextId, objectGroup: HANDLES });
  if (result.objectId === undefined) return [];
  const { result: members } = await session.send('Runtime.getProperties', {
    objectId: result.objectId,
    ownProperties: true,
  });
  const handles = members.filter(({ name }) => /^\d+$/.test(name)).map(({ value }) => value?.objectId);
  count?.(handles.length);
  const ids = await Promise.all(handles.map((objectId) => idOf(session, objectId)));
  session.post('Runtime.releaseObjectGroup', { objectGroup: HANDLES });
  return ids;
}

async function idOf(session: PageSession, objectId: string | undefined): Promise<string | undefined> {
  if (objectId === undefined) return undefined;
  const { node } = await session.send('DOM.describeNode', { objectId });
  return node.frameId;
}
