import { firstValueFrom } from 'rxjs';
import { createSharedTurns } from '../fairness/shared-turns.ts';
import { type Groups, groupResults } from './group-results.ts';

/** Maximum number of groupings at once: each reads many records. */
const MAX_AT_ONCE = 1;
/** Maximum number of groupings that wait, of which each key has a share. */
const MAX_WAITING = 50;

export type Groupings = ReturnType<typeof createGroupings>;

/** Groups results in turns of the keys. Rejects with `queue_full` while too many wait. */
export function createGroupings() {
  const inSharedTurns = createSharedTurns({ atOnce: MAX_AT_ONCE, maxWaiting: MAX_WAITING, what: 'groupings' });
  return {
    of: (owner: string | null, ...asked: Parameters<typeof groupResults>): Promise<Groups> =>
      firstValueFrom(inSharedTurns(owner, () => groupResults(...asked))),
  };
}
