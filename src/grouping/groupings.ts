import { firstValueFrom } from 'rxjs';
import { createBoundedWork } from '../fairness/work-in-turn.ts';
import { type Groups, groupResults } from './group-results.ts';

/** Maximum number of groupings at once: each reads many records. */
const MAX_AT_ONCE = 1;
/** Maximum number of groupings that wait, of which each key has a share. */
const MAX_WAITING = 50;

export type Groupings = ReturnType<typeof createGroupings>;

/** Groups results in turns of the keys. Rejects with `queue_full` while too many wait. */
export function createGroupings() {
  const inTurnOfOwner = createBoundedWork({ atOnce: MAX_AT_ONCE, maxWaiting: MAX_WAITING, what: 'groupings' });
  return {
    of: (owner: string | null, ...asked: Parameters<typeof groupResults>): Promise<Groups> =>
      firstValueFrom(inTurnOfOwner(owner, () => groupResults(...asked))),
  };
}
