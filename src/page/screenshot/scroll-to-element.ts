import { z } from 'zod';
import type { Deadline } from '../../capture/deadline.ts';
import { CdpError } from '../../cdp/connection.ts';
import { evaluate, letGo, PICTURE_WORLD, untilAnswered } from '../ask-page.ts';
import { drawn } from '../drawn.ts';
import { toPage } from '../find/box-in-page.ts';
import { type Place, placesOf } from '../find/places.ts';
import { prepare } from '../find/prepared-frames.ts';
import type { IsolatedPage } from '../isolated-page.ts';
import { call, functionOf, type ResultOf } from '../page-scripts.ts';

type Found = ResultOf<'findVisible'>;

const found: z.ZodType<Found> = z.union([
  z.enum(['absent', 'invisible']),
  z.object({ x: z.number(), y: z.number(), width: z.number(), height: z.number() }),
]);

const scrolled: z.ZodType<ResultOf<'scrollToTop'>> = z.object({ x: z.number(), y: z.number() });

/**
 * Returns the box of the first visible element that matches, in CSS pixels of the page, or the reason why there is
 * none. Scroll containers and frames within the page are scrolled to it; the page itself stays at its top.
 */
export async function scrollToElement(page: IsolatedPage, selector: string, deadline: Deadline): Promise<Found> {
  return untilAnswered(deadline, 'look for the selector', async () => {
    const places = await placesOf(page, selector, deadline);
    if (places === undefined) return undefined;
    let best: Found = 'absent';
    for (const place of places) {
      const box = await letGo(place, deadline, findIn(page, place));
      if (typeof box !== 'string') return box;
      if (box === 'invisible') best = box;
    }
    return best;
  });
}

/** Looks in one document; resolves with undefined when it, or one around it, was replaced meanwhile. */
async function findIn(page: IsolatedPage, place: Place): Promise<Found | undefined> {
  const isFrame = place.entrance !== undefined;
  const answer = await prepare(page, place, call('findVisible', place.steps, isFrame));
  if (answer === undefined) return undefined;
  const box = found.parse(answer);
  if (typeof box === 'string') return box;
  for (let at = place; at.entrance !== undefined; at = at.entrance.from) {
    const isShown = await revealFrame(at, at.entrance.from);
    if (isShown !== true) return isShown === false ? 'invisible' : undefined;
  }
  const { data: offset } = scrolled.safeParse(await evaluate(page, call('scrollToTop')));
  const convert = await toPage(place);
  if (offset === undefined || convert === undefined) return undefined;
  const inPage = convert(box);
  // The screenshot does not wait for what another process draws after it was scrolled.
  if (place.session !== page.session) await drawn(place);
  return inPage === null ? 'invisible' : { ...inPage, x: inPage.x + offset.x, y: inPage.y + offset.y };
}

/** Scrolls the document around a frame to its element. Resolves with whether that is visible. */
async function revealFrame({ frame }: Place, from: Place): Promise<unknown> {
  const { session } = from;
  try {
    const [{ backendNodeId }, { executionContextId }] = await Promise.all([
      session.send('DOM.getFrameOwner', { frameId: frame.id }),
      session.send('Page.createIsolatedWorld', { frameId: from.frame.id, worldName: PICTURE_WORLD }),
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
