import { within } from '../deadline.ts';
import { evaluate } from './ask-page.ts';
import type { EvaluatedFrame } from './page-session.ts';

/** Maximum time for a frame to draw. A frame outside the window draws nothing. */
const MAX_FRAME_MS = 1_000;

/** Resolves when a frame in the window has loaded and drawn, or after a while. */
export async function drawn(frame: EvaluatedFrame): Promise<void> {
  await within(MAX_FRAME_MS, evaluate(frame, `(${DRAWN})()`), undefined);
}

/** Runs in the frame. An animation frame comes only to a frame that the window shows. */
const DRAWN = `async () => {
  if (document.readyState !== 'complete') await new Promise((resolve) => addEventListener('load', resolve));
  const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
  await frame();
  await frame();
}`;
