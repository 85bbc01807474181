import { CapstanError } from '../../capture/errors.ts';
import { type HeldFileLock, holdLock } from '../files/held-lock.ts';
import { type HeldLock, UNCONTESTED } from '../ports/lock.ts';
import type { EventTable } from '../records/own-event-log.ts';

/**
 * Lets one process at a time write the log. Two processes would each treat the other's events as those of a
 * predecessor, and note gaps where nothing is missing. The second one has no log until the first has ended; `onHeld` is
 * called once.
 */
export function exclusiveEvents(table: EventTable, lockFile: string, onHeld: () => void) {
  let held: HeldFileLock | undefined;
  let reported = false;

  function hold(): HeldFileLock | undefined {
    held ??= holdLock(lockFile, () => {
      if (!reported) onHeld();
      reported = true;
    });
    return held;
  }

  function own(): EventTable {
    if (hold() !== undefined) return table;
    throw new CapstanError('database_unavailable', 'Another process writes the event log of this database.');
  }

  return {
    append: async (rows) => own().append(rows),
    read: async (after, limit) => own().read(after, limit),
    newest: async () => own().newest(),
    newestKeys: async (rows) => own().newestKeys(rows),
    /** Returns a lock that this process has for as long as it writes the log; undefined while another one does. */
    hold: (): HeldLock | undefined => (hold() === undefined ? undefined : UNCONTESTED),
    release: () => {
      held?.release();
      held = undefined;
    },
  } satisfies EventTable & { hold(): HeldLock | undefined; release(): void };
}
