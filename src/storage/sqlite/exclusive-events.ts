import { CapstanError } from '../../capture/errors.ts';
import { type HeldFileLock, holdLock } from '../files/held-lock.ts';
import type { EventTable } from '../records/own-event-log.ts';

/**
 * Lets one process at a time write the log. Two processes would each treat the other's events as those of a
 * predecessor, and note gaps where nothing is missing. The second one has no log until the first has ended; `onHeld` is
 * called once.
 */
export function exclusiveEvents(table: EventTable, lockFile: string, onHeld: () => void) {
  let held: HeldFileLock | undefined;
  let reported = false;

  function own(): EventTable {
    held ??= holdLock(lockFile, () => {
      if (!reported) onHeld();
      reported = true;
    });
    if (held !== undefined) return table;
    throw new CapstanError('database_unavailable', 'Another process writes the event log of this database.');
  }

  return {
    append: async (rows) => own().append(rows),
    read: async (after, limit) => own().read(after, limit),
    newest: async () => own().newest(),
    release: () => {
      held?.release();
      held = undefined;
    },
  } satisfies EventTable & { release(): void };
}
