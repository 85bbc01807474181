import { nextFrame } from '../frames.ts';
import { pause } from '../pause.ts';
import { MAX_MOVING_MS, QUIET_MS, watchChanges } from '../watch-changes.ts';
import { web } from '../web.ts';
import { watchWork } from '../work/watch-work.ts';

/**
 * Resolves when nothing has changed for `QUIET_MS` and the page shows no sign of work, or after `maxMs`. Scroll handlers
 * and observers run in the first frames. A slow page or a busy machine may take longer than `QUIET_MS` for a frame:
 * after a change or a sign of work, the next frame must bring no other.
 */
export async function run(maxMs: number): Promise<'quiet'> {
  const end = web.performance.now() + maxMs;
  const changes = watchChanges();
  const isWorking = watchWork();
  // A page can cancel frames.
  const untilEnd = (frames: Promise<void>) => Promise.race([frames, pause(Math.max(0, end - web.performance.now()))]);
  await untilEnd(nextFrame().then(nextFrame));
  /** Number of changes after which a frame was awaited. */
  let followed = 0;
  /** Whether there was a sign of work since a frame was awaited: most canvases change once a frame. */
  let worked = false;
  for (;;) {
    const now = web.performance.now();
    const { count, last } = changes.noticed();
    const left = Math.min(end, last + QUIET_MS) - now;
    if (left > 0) await pause(left);
    else if (now < end && isWorking(end - now)) {
      worked = true;
      await pause(Math.min(end - now, QUIET_MS));
    } else if (now < end && (worked || (count > followed && now < changes.beginning + MAX_MOVING_MS))) {
      followed = count;
      worked = false;
      await untilEnd(nextFrame());
    } else break;
  }
  changes.end();
  return 'quiet';
}
