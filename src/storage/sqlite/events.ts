import type { DatabaseSync } from 'node:sqlite';
import { ofKey } from '../../capture/client.ts';
import { type EventEntry, gapEntry, type LoggedEvent } from '../ports/event-log.ts';
import { CLOSED, type EventTable } from '../records/own-event-log.ts';
import type { Synchronous } from './remote.ts';
import { inTransaction } from './transaction.ts';

/** Share of the limit by which it is exceeded before the oldest rows are removed: in steps, not one per insert. */
const STEP_SHARE = 0.01;

/** Runs in the worker. Keeps at least `kept` events. */
export function eventTable(db: DatabaseSync, kept: number): Synchronous<EventTable> {
  const insert = db.prepare(
    `INSERT INTO events (id, type, host, batch, api_key_name, body) VALUES (?, ?, ?, ?, ?, ?)
    ON CONFLICT (id) DO NOTHING`,
  );
  const page = db.prepare(
    'SELECT id, type, host, batch, api_key_name, body FROM events WHERE id > ? AND type <> ? ORDER BY id LIMIT ?',
  );
  const newest = db.prepare('SELECT id, type FROM events ORDER BY id DESC LIMIT 1');
  const newestToGo = db.prepare('SELECT id FROM events ORDER BY id DESC LIMIT 1 OFFSET ?');
  const remove = db.prepare('DELETE FROM events WHERE id <= ?');
  const step = Math.ceil(kept * STEP_SHARE);
  let untilTrimmed = 0;

  /** A gap replaces the newest removed row, so that a subscriber that resumes before it is informed. */
  function trim(): void {
    const id = newestToGo.get(kept)?.id;
    if (typeof id !== 'number') return;
    remove.run(id);
    write({ id, ...gapEntry('too_old', Date.now()) });
  }

  function write({ id, type, host, batch, api_key_name: key, body }: LoggedEvent): void {
    insert.run(id, type, host, batch, key ?? null, body);
  }

  function append(rows: readonly LoggedEvent[]): void {
    // Events are not synced, unlike results. After a power failure the log has no end row, which the next start
    // notices.
    db.exec('PRAGMA synchronous = NORMAL');
    try {
      inTransaction(db, () => {
        for (const row of rows) write(row);
        untilTrimmed -= rows.length;
        if (untilTrimmed <= 0) {
          trim();
          untilTrimmed = step;
        }
      });
    } finally {
      db.exec('PRAGMA synchronous = FULL');
    }
  }

  return {
    append,
    read: (after, limit) => page.all(after, CLOSED, limit).map(eventOf),
    newest: () => {
      const row = newest.get();
      return row === undefined ? undefined : { id: Number(row.id), type: String(row.type) };
    },
  };
}

function eventOf(row: Record<string, unknown>): LoggedEvent {
  const entry: EventEntry = {
    type: String(row.type),
    host: typeof row.host === 'string' ? row.host : null,
    batch: typeof row.batch === 'string' ? row.batch : null,
    ...ofKey(typeof row.api_key_name === 'string' ? row.api_key_name : null),
    body: String(row.body),
  };
  return { id: Number(row.id), ...entry };
}
