import type { Protocol } from 'devtools-protocol';
import { intersection, outside } from '../../capture/comparison/boxes.ts';
import type { Deadline } from '../../capture/deadline.ts';
import type { Rectangle } from '../../capture/options/screenshot.ts';
import { CdpError } from '../../cdp/connection.ts';
import { evaluate, unblocked } from '../asking/ask-page.ts';
import { call } from '../asking/page-scripts.ts';
import type { PageSession } from '../frames/page-session.ts';
import type { IsolatedPage } from '../isolated-page.ts';
import type { ChosenPart } from './choose-part.ts';
import { outwards } from './rectangles.ts';

/** A frame that is blank in a screenshot. Rectangles are in CSS pixels from the upper left corner of the content. */
export interface BlankFrame {
  readonly id: string;
  readonly session: PageSession;
  readonly box: Rectangle;
  /** Parts of it that the screenshot shows and the window does not. */
  readonly missing: readonly Rectangle[];
}

/**
 * Returns the frames that are blank in a screenshot larger than the window: Chromium draws a cross-origin frame only
 * in the window and about 15 % around it. Frames within such frames are drawn with them.
 */
export async function findBlankFrames(
  page: IsolatedPage,
  { part, inWindow, window }: ChosenPart,
  deadline: Deadline,
): Promise<readonly BlankFrame[]> {
  if (inWindow || part === null || !page.frames.seen) return [];
  const found: BlankFrame[] = [];
  for (const [id, session] of await framesOfOtherOrigins(page, deadline)) {
    const box = await placeFrame(page, id, deadline);
    const shown = box === null ? null : intersection(box, part);
    const missing = shown === null ? [] : outside(shown, window);
    if (box !== null && missing.length > 0) found.push({ id, session, box, missing });
  }
  return found.sort((one, other) => one.box.y - other.box.y);
}

async function framesOfOtherOrigins(page: IsolatedPage, deadline: Deadline): Promise<ReadonlyMap<string, PageSession>> {
  const { session, frames } = page;
  const found = new Map(frames.outOfProcess);
  const listing = unblocked(page, deadline, session.send('Page.getFrameTree'));
  const { frameTree } = await deadline.step('list frames', listing);
  const add = async ({ frame, childFrames = [] }: Protocol.Page.FrameTree): Promise<void> => {
    const isOther = frame.securityOrigin !== frameTree.frame.securityOrigin || (await isSandboxed(frame.id));
    if (isOther) found.set(frame.id, session);
    else for (const child of childFrames) await add(child);
  };
  // The security origin of a sandboxed frame is that of its URL.
  const isSandboxed = async (id: string) => {
    const asking = unblocked(page, deadline, evaluate({ session, frame: { id } }, call('origin')));
    return (await deadline.step('list frames', asking)) === 'null';
  };
  for (const child of frameTree.childFrames ?? []) await add(child);
  return found;
}

/** The box of a frame; null when it has none, or lies in a frame of another process. */
export async function placeFrame(page: IsolatedPage, frameId: string, deadline: Deadline): Promise<Rectangle | null> {
  const { session } = page;
  const asking = Promise.all([
    session.send('DOM.getFrameOwner', { frameId }).then((owner) => session.send('DOM.getContentQuads', owner)),
    session.send('Page.getLayoutMetrics'),
  ]);
  try {
    const [{ quads }, { cssLayoutViewport }] = await deadline.step('find frames', unblocked(page, deadline, asking));
    const [quad = []] = quads;
    const xs = quad.filter((_, at) => at % 2 === 0);
    const ys = quad.filter((_, at) => at % 2 === 1);
    if (xs.length === 0) return null;
    const [left, top] = [Math.min(...xs), Math.min(...ys)];
    return outwards({
      x: left + cssLayoutViewport.pageX,
      y: top + cssLayoutViewport.pageY,
      width: Math.max(...xs) - left,
      height: Math.max(...ys) - top,
    });
  } catch (error) {
    if (error instanceof CdpError) return null;
    throw error;
  }
}
