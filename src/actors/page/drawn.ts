import { within } from '../deadline.ts';
import { evaluate } from './ask-page.ts';
import type { EvaluatedFrame } from './page-session.ts';

/** Maximum time for a frame to draw. Its process may have to wait for the processor. */
const MAX_FRAME_MS = 5_000;
/** Time after which a frame that is outside the window is no longer expected to come into it. It draws nothing there. */
const MAX_OUTSIDE_MS = 1_000;

/** Resolves when a frame in the window has loaded and drawn, or after a while. */
export async function drawn(frame: EvaluatedFrame, maxMs = MAX_FRAME_MS): Promise<void> {
  await within(maxMs, evaluate(frame, `(${DRAWN})()`), undefined);
}

/**
 * Runs in the frame. An animation frame comes only to a frame that the window shows. The compositor may still be
 * painting the first one when the second begins; it has drawn the first when the third begins.
 */
const DRAWN = `async () => {
  if (document.readyState !== 'complete') await new Promise((resolve) => addEventListener('load', resolve));
  const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
  let observer;
  const isOutside = new Promise((resolve) => {
    let timer;
    observer = new IntersectionObserver(([{ isIntersecting }]) => {
      clearTimeout(timer);
      if (!isIntersecting) timer = setTimeout(resolve, ${MAX_OUTSIDE_MS});
    });
    observer.observe(document.documentElement);
  });
  await Promise.race([frame().then(frame).then(frame), isOutside]);
  observer.disconnect();
}`;
