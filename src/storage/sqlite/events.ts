import type { DatabaseSync } from 'node:sqlite';
import { ofKey } from '../../capture/client.ts';
import { type EventEntry, gapEntry, type LoggedEvent } from '../ports/event-log.ts';
import { CLOSED, type EventTable } from '../records/own-event-log.ts';
import type { AskFor, Handlers } from './calls.ts';
import { inTransaction } from './transaction.ts';

/** Share of the limit by which it is exceeded before the oldest rows are removed: in steps, not one per insert. */
const STEP_SHARE = 0.01;

export interface EventCalls {
  appendEvents: { args: { readonly rows: readonly LoggedEvent[] }; answer: null };
  readEvents: { args: { readonly after: number; readonly limit: number }; answer: LoggedEvent[] };
  newestEvent: { args: null; answer: { readonly id: number; readonly type: string } | null };
}

/** The table of events, accessed through the worker thread. */
export function sqliteEvents(ask: AskFor<EventCalls>): EventTable {
  return {
    append: async (rows) => {
      await ask('appendEvents', { rows });
    },
    read: (after, limit) => ask('readEvents', { after, limit }),
    newest: async () => (await ask('newestEvent', null)) ?? undefined,
  };
}

/** Runs in the worker. Keeps at least `kept` events. */
export function eventTable(db: DatabaseSync, kept: number): Handlers<EventCalls> {
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

  function append(rows: readonly LoggedEvent[]): null {
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
    return null;
  }

  return {
    appendEvents: ({ rows }) => append(rows),
    readEvents: ({ after, limit }) => page.all(after, CLOSED, limit).map(eventOf),
    newestEvent: () => {
      const row = newest.get();
      return row === undefined ? null : { id: Number(row.id), type: String(row.type) };
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
