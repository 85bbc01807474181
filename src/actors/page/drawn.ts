import { within } from '../deadline.ts';
import { evaluate } from './ask-page.ts';
import type { EvaluatedFrame } from './page-session.ts';

/** Maximum time for a frame to draw. Its process may have to wait for the processor. */
const MAX_FRAME_MS = 5_000;
/** Time after which a frame outside the window, where it draws nothing, is no longer expected to come into it. */
const MAX_OUTSIDE_MS = 1_000;

/** Resolves when a frame in the window has loaded and drawn, or after a while. */
export async function drawn(frame: EvaluatedFrame, maxMs = MAX_FRAME_MS): Promise<void> {
  const drawing = evaluate(frame, `(${DRAWN})()`).then(() => true);
  if (await within(MAX_OUTSIDE_MS, drawing, false)) return;
  // A process that does not answer may still draw. The time is measured here, because a frame's timers do not run while
  // its scripts are off.
  const leftMs = maxMs - MAX_OUTSIDE_MS;
  await within(leftMs, Promise.race([drawing, evaluate(frame, `(${IS_OUTSIDE})()`)]), undefined);
}

/**
 * Runs in the frame. An animation frame comes only to a frame that the window shows. The compositor may still be
 * painting the first one when the second begins; it has drawn the first when the third begins.
 */
const DRAWN = `async () => {
  if (document.readyState !== 'complete') await new Promise((resolve) => addEventListener('load', resolve));
  const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
  await frame();
  await frame();
  await frame();
}`;

/** Runs in the frame. Resolves when the window does not show it. */
const IS_OUTSIDE = `() => new Promise((resolve) => {
  const observer = new IntersectionObserver(([{ isIntersecting }]) => {
    if (isIntersecting) return;
    observer.disconnect();
    resolve();
  });
  observer.observe(document.documentElement);
})`;
