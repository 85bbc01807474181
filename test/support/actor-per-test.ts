import { afterEach } from 'vitest';
import { type RunningActor, startActor } from './actor.ts';

/** Returns a `startActor` for single tests: the actor is stopped when its test has ended. */
export function actorPerTest(): typeof startActor {
  let running: RunningActor | undefined;
  afterEach(async () => {
    await running?.stop();
    running = undefined;
  });
  return async (overrides, options) => {
    running = await startActor(overrides, options);
    return running;
  };
}
