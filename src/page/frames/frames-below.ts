import type { Protocol } from 'devtools-protocol';
import type { IsolatedPage } from '../isolated-page.ts';
import type { EvaluatedFrame, PageSession } from './page-session.ts';

/** Maximum number of frames. Pages with more are rare, and each frame costs a round trip or two. */
const MAX_FRAMES = 100;

/** Resolves with the frames in a page, in its own process and in others. */
export async function framesBelow({ session, frame, frames }: IsolatedPage): Promise<readonly EvaluatedFrame[]> {
  if (!frames.seen) return [];
  const sessions = [session, ...frames.outOfProcess.values()];
  const found = await Promise.all(sessions.map((each) => framesOf(each)));
  return found
    .flat()
    .filter(({ frame: { id } }) => id !== frame.id)
    .slice(0, MAX_FRAMES);
}

/** Resolves with the frames of one process. A process may end at any time. */
async function framesOf(session: PageSession): Promise<readonly EvaluatedFrame[]> {
  const answer = await session.send('Page.getFrameTree').catch(() => undefined);
  return answer === undefined ? [] : framesIn(answer.frameTree).map(({ id }) => ({ session, frame: { id } }));
}

/** Returns the frames of a tree, its root first. */
export function framesIn({ frame, childFrames = [] }: Protocol.Page.FrameTree): readonly Protocol.Page.Frame[] {
  return [frame, ...childFrames.flatMap(framesIn)];
}
