import type { DatabaseSync } from 'node:sqlite';
import { ofKey } from '../../capture/client.ts';
import { REQUEST_LIMITS } from '../../capture/request-limits.ts';
import { cutsOf } from '../../fairness/share.ts';
import { charactersOf, type EventEntry, gapEntry, type LoggedEvent } from '../ports/event-log.ts';
import { CLOSED, type EventTable } from '../records/own-event-log.ts';
import type { Synchronous } from './remote.ts';
import { inTransaction } from './transaction.ts';

/** Share of the limit by which it is exceeded before the oldest rows are removed: in steps, not one per insert. */
const STEP_SHARE = 0.01;

/** Runs in the worker. Keeps at least `kept` events. */
export function eventTable(db: DatabaseSync, kept: number): Synchronous<EventTable> {
  const insert = db.prepare(
    `INSERT INTO events (id, type, host, batch, api_key_name, body, words, recipients, key) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (id) DO NOTHING`,
  );
  const page = db.prepare(
    `SELECT id, type, host, batch, api_key_name, body, words, recipients, key FROM events
    WHERE id > ? AND type <> ? ORDER BY id LIMIT ?`,
  );
  const newestKeys = db.prepare(
    'SELECT key FROM (SELECT key FROM events ORDER BY id DESC LIMIT ?) WHERE key IS NOT NULL',
  );
  const newest = db.prepare('SELECT id, type FROM events ORDER BY id DESC LIMIT 1');
  const counts = db.prepare('SELECT api_key_name, COUNT(*) AS rows FROM events GROUP BY api_key_name');
  const nthOf = db.prepare('SELECT id FROM events WHERE api_key_name IS ? ORDER BY id LIMIT 1 OFFSET ?');
  const remove = db.prepare('DELETE FROM events WHERE api_key_name IS ? AND id <= ?');
  const step = Math.ceil(kept * STEP_SHARE);
  let untilTrimmed = 0;

  /**
   * Removes the oldest rows of the keys that have the most. A gap replaces the newest removed row of a key, so that a
   * subscriber that resumes before it is informed.
   */
  function trim(): void {
    const rows = new Map(counts.all().map((row) => [keyOf(row), Number(row.rows)]));
    const total = rows.values().reduce((sum, count) => sum + count, 0);
    // Each other key may have a gap, which is not one of the kept events; the key that is cut gets its own below.
    for (const [key, cut] of cutsOf(rows, total - kept - (rows.size - 1))) {
      const id = nthOf.get(key, cut - 1)?.id;
      if (typeof id !== 'number') continue;
      remove.run(key, id);
      write({ id, ...gapEntry('too_old', Date.now(), ofKey(key)) });
    }
  }

  function write({ id, type, host, batch, api_key_name: apiKey, body, words, to, key }: LoggedEvent): void {
    const recipients = to === undefined ? null : JSON.stringify(to);
    insert.run(id, type, host, batch, apiKey ?? null, body, words ?? null, recipients, key ?? null);
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
    read: (after, limit) => {
      const found: LoggedEvent[] = [];
      let characters = 0;
      for (const row of page.iterate(after, CLOSED, limit)) {
        const event = eventOf(row);
        found.push(event);
        characters += charactersOf(event);
        if (characters >= REQUEST_LIMITS.readTogether.max) break;
      }
      return found;
    },
    newest: () => {
      const row = newest.get();
      return row === undefined ? undefined : { id: Number(row.id), type: String(row.type) };
    },
    newestKeys: (rows) => newestKeys.all(rows).map(({ key }) => String(key)),
  };
}

function keyOf({ api_key_name: key }: Record<string, unknown>): string | null {
  return typeof key === 'string' ? key : null;
}

function eventOf(row: Record<string, unknown>): LoggedEvent {
  const entry: EventEntry = {
    type: String(row.type),
    host: typeof row.host === 'string' ? row.host : null,
    batch: typeof row.batch === 'string' ? row.batch : null,
    ...ofKey(keyOf(row)),
    body: String(row.body),
    ...(typeof row.words === 'string' && { words: row.words }),
    ...(typeof row.recipients === 'string' && { to: JSON.parse(row.recipients) }),
    ...(typeof row.key === 'string' && { key: row.key }),
  };
  return { id: Number(row.id), ...entry };
}
