import { type Deadline, within } from '../../capture/deadline.ts';
import { CdpError } from '../../cdp/connection.ts';
import { evaluate, unblocked } from '../asking/ask-page.ts';
import { call, functionOf } from '../asking/page-scripts.ts';
import type { EvaluatedFrame, PageSession } from '../frames/page-session.ts';
import type { IsolatedPage } from '../isolated-page.ts';

/** Maximum time for a frame to draw. Its process may have to wait for the processor. */
const MAX_FRAME_MS = 5_000;
/** Maximum time for a frame that another process draws, and that nothing was changed in. */
const MAX_BUSY_MS = 2_000;
/** Time after which a frame outside the window, where it draws nothing, is no longer expected to come into it. */
const MAX_OUTSIDE_MS = 1_000;

/** Resolves when a frame in the window has loaded and drawn, or after a while. */
export async function drawn(frame: EvaluatedFrame, maxMs = MAX_FRAME_MS): Promise<void> {
  const drawing = evaluate(frame, call('awaitDrawn')).then(() => true);
  if (await within(MAX_OUTSIDE_MS, drawing, false)) return;
  // A process that does not answer may still draw. The time is measured here, because a frame's timers do not run while
  // its scripts are off.
  const leftMs = maxMs - MAX_OUTSIDE_MS;
  await within(leftMs, Promise.race([drawing, outside(frame)]), undefined);
}

/**
 * Resolves when the frames that other processes draw have drawn in the window, or after a while: a screenshot does not
 * wait for them. Frames that were prepared for it are given as long as `drawn` gives; others have loaded with the page,
 * and may be busy.
 */
export async function drawnElsewhere(page: IsolatedPage, deadline: Deadline): Promise<void> {
  const { session, frames, visit } = page;
  const prepared = [...visit.preparedFrames.values()].filter((frame) => frame.session !== session);
  const others = frames.within(session).filter(({ frame }) => !visit.preparedFrames.has(frame.id));
  const othersMs = Math.min(MAX_BUSY_MS, deadline.waitingMs / 2);
  const drawing = [
    ...prepared.map((frame) => unblocked(frame, deadline, drawn(frame))),
    ...endings(page, others, othersMs),
  ];
  await deadline.step('wait for frames of other processes', Promise.all(drawing));
}

/**
 * Returns for each frame a promise of whether it has drawn or is not shown, or of nothing after `maxMs`. Frames come
 * after those around them. A frame does not know at first where the window is; the frame around it does when it has
 * drawn.
 */
function endings(
  { session, frames }: IsolatedPage,
  others: readonly EvaluatedFrame[],
  maxMs: number,
): readonly Promise<'drawn' | 'hidden' | undefined>[] {
  const ended = new Map<PageSession, Promise<'drawn' | 'hidden' | undefined>>();
  for (const frame of others) {
    const around = frames.around(frame.session) ?? session;
    const drawing = evaluate(frame, call('awaitShown')).then(() => 'drawn' as const);
    const hiding = (ended.get(around) ?? Promise.resolve('drawn')).then(async (ending) => {
      if (ending !== 'hidden') await hidden(frame, around);
      return 'hidden' as const;
    });
    ended.set(frame.session, within(maxMs, Promise.race([drawing, hiding]), undefined));
  }
  return [...ended.values()];
}

/** Resolves when the window does not show a frame, and not before. */
const outside = (frame: EvaluatedFrame) => evaluate(frame, call('awaitOutside'));

/**
 * Resolves when the element of a frame is hidden, outside the window or gone, and not before: such a frame draws nothing.
 */
async function hidden({ frame }: EvaluatedFrame, around: PageSession): Promise<void> {
  try {
    const owner = await around.send('DOM.getFrameOwner', { frameId: frame.id });
    const { object } = await around.send('DOM.resolveNode', { backendNodeId: owner.backendNodeId });
    if (object.objectId === undefined) return;
    await around.send('Runtime.callFunctionOn', {
      // In the page's own world, whose scripts may change the answer: at worst, a frame is missing in its own screenshot.
      functionDeclaration: functionOf('awaitHidden'),
      arguments: [{ objectId: object.objectId }],
      objectId: object.objectId,
      awaitPromise: true,
    });
  } catch (error) {
    if (!(error instanceof CdpError)) throw error;
  }
}
