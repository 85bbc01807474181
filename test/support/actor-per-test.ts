import { afterEach } from 'vitest';
import { type RunningActor, startActor } from './actor.ts';

/** As `startActor`, once in a test; it is stopped when the test has ended. */
export function actorPerTest(): typeof startActor {
  let running: RunningActor | undefined;
  afterEach(async () => {
    await running?.stop();
    running = undefined;
  });
  return async (overrides) => {
    running = await startActor(overrides);
    return running;
  };
}
