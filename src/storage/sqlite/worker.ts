import { renameSync, rmSync, statSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';
import { NewerSchemaError } from '../failures/newer-schema-error.ts';
import { documentTable } from './document-table.ts';
import { eventTable } from './events.ts';
import { explain, GONE, isDamaged, isUnusable, Unavailable } from './failure.ts';
import type { Call, FromWorker, Tables, ToWorker, WorkerOptions } from './protocol.ts';
import { resultTable } from './result-table.ts';
import { openDatabase } from './schema.ts';

/*
 * The thread that runs SQLite: it may block, the service's event loop may not. It opens the file, reopens it with
 * back-off whenever it cannot be used, and answers one call after the other.
 */

const FIRST_RETRY_MS = 100;
const MAX_RETRY_MS = 5000;

/**
 * Interval at which SQLite's page cache is emptied, so that pages of large documents do not stay. The system still has
 * the file in memory: reading 64 MiB of it again takes about 50 ms in all.
 */
const SHRINK_MS = 20_000;

/** Time that a search runs before other calls get their turn, in milliseconds. */
const TURN_MS = 5;

/** Methods that write whatever is in the file. The event that tells of an outage waits for one of them. */
const WRITES: ReadonlySet<string> = new Set(['results.insert', 'results.delete', 'events.append']);

interface Open {
  readonly db: DatabaseSync;
  readonly tables: Tables;
  readonly inode: bigint;
  /** Inode of the `-wal` file. */
  readonly walInode: bigint;
}

function serve(
  { path, keptEvents }: WorkerOptions,
  send: (message: FromWorker) => void,
): (message: ToWorker) => Promise<void> {
  let open: Open | undefined;
  let reason = 'it is not open yet';
  let retryMs = FIRST_RETRY_MS;
  let retry: NodeJS.Timeout | undefined;
  let reported: string | undefined;
  let everOpen = false;
  /** Inode of the damaged file, which is not opened again. */
  let damagedInode: bigint | undefined;

  function tell(state: 'up' | 'down' | 'damaged', reason: string): void {
    if (state + reason !== reported) send({ type: 'state', state, reason });
    reported = state + reason;
  }

  function tryOpen(): void {
    const inode = inodeOf(path);
    if (inode === damagedInode) {
      retryLater();
      return;
    }
    // A file that was open and is gone is a lost mount or a mistake: creating an empty one would hide that.
    if (everOpen && inode === NO_FILE) {
      giveUp(new Unavailable(GONE), 'damaged');
      return;
    }
    try {
      open = opened(path, keptEvents);
      everOpen = true;
      damagedInode = undefined;
      tell('up', '');
    } catch (error) {
      if (error instanceof NewerSchemaError) send({ type: 'refused', reason: error.message });
      giveUp(error);
    }
  }

  function giveUp(error: unknown, state: 'down' | 'damaged' = isDamaged(error) ? 'damaged' : 'down'): void {
    reason = explain(error).reason;
    // Only replacing the file ends this state: the same file is not opened again.
    if (isDamaged(error)) damagedInode = open?.inode ?? inodeOf(path);
    close();
    tell(state, reason);
    retryLater();
  }

  function retryLater(): void {
    clearTimeout(retry);
    retry = setTimeout(tryOpen, retryMs);
    retryMs = Math.min(retryMs * 2, MAX_RETRY_MS);
  }

  function close(): void {
    try {
      open?.db.close();
    } catch {
      // A file that cannot be read cannot be closed cleanly either.
    }
    open = undefined;
  }

  function inForce(): Open {
    if (open !== undefined && inodeOf(path) !== open.inode) {
      // The file was replaced or removed: anything written now would be lost.
      const { walInode } = open;
      close();
      setAsideLog(path, walInode);
      tryOpen();
    }
    if (open === undefined) throw new Unavailable(reason);
    return open;
  }

  async function answerTo(call: Call): Promise<unknown> {
    const { table, method, args } = call;
    const { db, tables } = inForce();
    const answer: unknown = Reflect.apply(Reflect.get(tables[table], method), undefined, args);
    // Yields to other calls, so that an insert does not wait for a search.
    if (isSearch(answer)) {
      for (let turn = performance.now(); ; ) {
        const step = answer.next();
        if (step.done) return step.value;
        if (performance.now() - turn < TURN_MS) continue;
        await nextTurn();
        if (open?.db !== db) return answerTo(call);
        turn = performance.now();
      }
    }
    // The file accepts writes again, for example after a lock or a full disk.
    if (WRITES.has(`${table}.${method}`)) tell('up', '');
    // Not reset on opening: a file that can be opened but not read would be reopened without a delay, forever.
    retryMs = FIRST_RETRY_MS;
    return answer;
  }

  function end(): void {
    clearTimeout(retry);
    close();
    parentPort?.close();
  }

  tryOpen();
  setInterval(() => open?.db.exec('PRAGMA shrink_memory'), SHRINK_MS).unref();

  return async (message) => {
    if (message === 'close') {
      end();
      return;
    }
    try {
      send({ type: 'answer', call: message.call, answer: await answerTo(message) });
    } catch (error) {
      const failure = explain(error);
      if (isUnusable(error)) giveUp(error);
      else if (failure.kind === 'unavailable' && open !== undefined) tell('down', failure.reason);
      send({ type: 'failure', call: message.call, failure });
    }
  };
}

function opened(path: string, keptEvents: number): Open {
  const db = openDatabase(path);
  return {
    db,
    tables: {
      results: resultTable(db),
      events: eventTable(db, keptEvents),
      documents: documentTable(db),
    },
    inode: inodeOf(path),
    walInode: inodeOf(walOf(path)),
  };
}

/** A search runs in steps of a few milliseconds, between which the database may change. */
function isSearch(answer: unknown): answer is Generator<void> {
  return typeof answer === 'object' && answer !== null && Symbol.iterator in answer && 'next' in answer;
}

const NO_FILE = -1n;

function inodeOf(path: string): bigint {
  return statSync(path, { bigint: true, throwIfNoEntry: false })?.ino ?? NO_FILE;
}

function walOf(path: string): string {
  return `${path}-wal`;
}

/**
 * Moves the write-ahead log of a replaced file away. SQLite would apply the log to the new file and corrupt it. The log
 * is kept, because it may hold records that are missing in the old file.
 */
function setAsideLog(path: string, walInode: bigint): void {
  const wal = walOf(path);
  if (walInode === NO_FILE || inodeOf(wal) !== walInode) return;
  renameSync(wal, `${wal}.replaced-${Date.now()}`);
  rmSync(`${path}-shm`, { force: true });
}

if (parentPort !== null) {
  const port = parentPort;
  const options: WorkerOptions = workerData;
  port.on(
    'message',
    serve(options, (message) => port.postMessage(message)),
  );
}
