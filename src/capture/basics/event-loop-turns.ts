import { setImmediate as nextTurn } from 'node:timers/promises';

/** Time after which other requests have a turn, in milliseconds: the words of one large page take some 10 ms. */
const TURN_MS = 10;

/** Returns a function that tells whether a turn that begins now has taken long. */
export function beginTurn(): () => boolean {
  const since = performance.now();
  return () => performance.now() - since > TURN_MS;
}

/**
 * Returns a function to await between the steps of long work, which lets other requests have a turn when they are due.
 * It resolves with whether they had one.
 */
export function takeTurns(): () => Promise<boolean> {
  let isOver = beginTurn();
  return async () => {
    if (!isOver()) return false;
    await nextTurn();
    isOver = beginTurn();
    return true;
  };
}
