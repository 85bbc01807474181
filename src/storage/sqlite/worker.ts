import { statSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';
import { codeOf } from '../files/directories.ts';
import { LEASE_RENEWAL_MS } from '../node-lease.ts';
import { type Database, database } from './database.ts';
import { type Events, events } from './events.ts';
import { idempotencyTable } from './idempotency.ts';
import { type JobTable, jobTable } from './jobs.ts';
import type { Answer, Call, CallFailure, Calls, FromWorker, SimilarRow, ToWorker, WorkerOptions } from './protocol.ts';
import { ForeignFileError, openDatabase } from './schema.ts';

/*
 * The thread that SQLite runs on: it may block, the service's event loop may not. It opens the file, opens it again
 * with back-off whenever it cannot be used, and works off one call after the other.
 */

const FIRST_RETRY_MS = 100;
const MAX_RETRY_MS = 5000;

/** How long a search goes on before calls that came meanwhile are worked off. */
const TURN_MS = 5;

/** Result codes of SQLite that are about the file, the disk or other processes, not about our statements. */
const SQLITE = { BUSY: 5, LOCKED: 6, NOMEM: 7, FULL: 13 } as const;
const UNUSABLE = new Set([3, 8, 10, 11, 14, 15, 17, 22, 23, 26]);

interface Open {
  readonly db: DatabaseSync;
  readonly database: Database;
  readonly events: Events;
  readonly idempotency: ReturnType<typeof idempotencyTable>;
  readonly jobs: JobTable;
  readonly inode: bigint;
}

function serve(
  { path, keptEvents }: WorkerOptions,
  send: (message: FromWorker) => void,
): (message: ToWorker) => Promise<void> {
  let open: Open | undefined;
  let reason = 'it is not open yet';
  let retryMs = FIRST_RETRY_MS;
  let retry: NodeJS.Timeout | undefined;
  let owner: string | undefined;

  let told: string | undefined;

  function tell(up: boolean, reason: string): void {
    const state = up ? 'up' : reason;
    if (state !== told) send({ type: 'state', up, reason });
    told = state;
  }

  function tryOpen(): void {
    try {
      const db = openDatabase(path);
      open = {
        db,
        database: database(db),
        events: events(db, keptEvents),
        idempotency: idempotencyTable(db),
        jobs: jobTable(db),
        inode: inodeOf(path),
      };
      retryMs = FIRST_RETRY_MS;
      tell(true, '');
    } catch (error) {
      giveUp(explain(error).reason);
    }
  }

  function giveUp(why: string): void {
    reason = why;
    close();
    tell(false, why);
    clearTimeout(retry);
    retry = setTimeout(tryOpen, retryMs);
    retryMs = Math.min(retryMs * 2, MAX_RETRY_MS);
  }

  function close(): void {
    try {
      open?.db.close();
    } catch {
      // A file that cannot be read any more cannot be closed in order either.
    }
    open = undefined;
  }

  function inForce(): Open {
    if (open !== undefined && inodeOf(path) !== open.inode) {
      // Somebody moved or removed the file: what is written now would be in no file that anyone finds again.
      close();
      tryOpen();
    }
    if (open === undefined) throw new Unavailable(reason);
    return open;
  }

  /** As long as it takes, in turns with the other calls: an insert does not wait for somebody's search. */
  async function search({ likeness, limit }: Calls['similar']['args']): Promise<SimilarRow[]> {
    const { db, database } = inForce();
    const steps = database.similar(likeness, limit);
    for (let turn = performance.now(); ; ) {
      const step = steps.next();
      if (step.done) return step.value;
      if (performance.now() - turn < TURN_MS) continue;
      await nextTurn();
      if (open?.db !== db) return search({ likeness, limit });
      turn = performance.now();
    }
  }

  function work(call: Exclude<Call, { name: 'similar' }>): Answer {
    const { database, events, idempotency, jobs } = inForce();
    switch (call.name) {
      case 'insert':
        database.insert(call.args.rows);
        return null;
      case 'get':
        return database.get(call.args.id);
      case 'page':
        return database.page(call.args.filter, call.args.limit, call.args.place);
      case 'delete':
        return database.delete(call.args.ids);
      case 'oldest':
        return database.oldest(call.args.limit, call.args.before, call.args.after);
      case 'appendEvents':
        events.append(call.args.rows);
        return null;
      case 'readEvents':
        return events.read(call.args.after, call.args.limit);
      case 'newestEvent':
        return events.newest();
      case 'claimNode':
        owner = call.args.owner;
        return database.claimNode(call.args.owner, Date.now());
      case 'idempotency':
        return idempotency(call.args, Date.now());
      case 'addJob':
        return jobs.addJob(call.args, Date.now());
      case 'getJob':
        return jobs.getJob(call.args, Date.now());
      case 'jobResults':
        return jobs.jobResults(call.args, Date.now());
      case 'takeJob':
        return jobs.takeJob(call.args, Date.now());
      case 'renewJob':
        return jobs.renewJob(call.args, Date.now());
      case 'putJobResults':
        return jobs.putJobResults(call.args, Date.now());
      case 'finishJob':
        return jobs.finishJob(call.args, Date.now());
      case 'releaseJob':
        return jobs.releaseJob(call.args, Date.now());
      case 'cancelJob':
        return jobs.cancelJob(call.args, Date.now());
      case 'pruneJobs':
        return jobs.pruneJobs(call.args, Date.now());
      case 'close':
        return null;
    }
  }

  function end(): void {
    clearTimeout(retry);
    clearInterval(renewal);
    try {
      if (owner !== undefined) open?.database.releaseNode(owner, Date.now());
    } catch {
      // The lease runs out by itself.
    }
    close();
    parentPort?.close();
  }

  const renewal = setInterval(() => {
    if (owner === undefined || open === undefined) return;
    try {
      open.database.claimNode(owner, Date.now());
    } catch {
      // The next call finds out what is wrong with the file, and says so to somebody.
    }
  }, LEASE_RENEWAL_MS);

  tryOpen();

  return async (message) => {
    if (message.name === 'close') {
      end();
      return;
    }
    try {
      const answer = message.name === 'similar' ? await search(message.args) : work(message);
      if (message.name === 'insert' || message.name === 'delete') tell(true, '');
      send({ type: 'answer', call: message.call, answer });
    } catch (error) {
      const failure = explain(error);
      if (isUnusable(error)) giveUp(failure.reason);
      else if (failure.kind === 'unavailable' && open !== undefined) tell(false, failure.reason);
      send({ type: 'failure', call: message.call, failure });
    }
  };
}

class Unavailable extends Error {}

/** What a person can do something about. */
function explain(error: unknown): CallFailure {
  const code = resultCode(error);
  const text = error instanceof Error ? error.message : String(error);
  if (error instanceof Unavailable || error instanceof ForeignFileError) return { kind: 'unavailable', reason: text };
  if (code === SQLITE.BUSY || code === SQLITE.LOCKED) {
    return { kind: 'unavailable', reason: 'another process holds its lock' };
  }
  if (code === SQLITE.FULL) return { kind: 'unavailable', reason: 'its disk is full' };
  // What a client is told names no path of ours.
  if (isSystemError(error)) return { kind: 'unavailable', reason: `its directory cannot be used (${codeOf(error)})` };
  if (code === SQLITE.NOMEM || isUnusable(error)) return { kind: 'unavailable', reason: text };
  return { kind: 'broken', reason: error instanceof Error ? (error.stack ?? text) : text };
}

function isUnusable(error: unknown): boolean {
  const code = resultCode(error);
  return (code !== undefined && UNUSABLE.has(code)) || isSystemError(error);
}

/** The primary result code: the extended ones carry it in their low byte. */
function resultCode(error: unknown): number | undefined {
  return error instanceof Error && 'errcode' in error && typeof error.errcode === 'number'
    ? error.errcode & 0xff
    : undefined;
}

function isSystemError(error: unknown): boolean {
  return error instanceof Error && 'syscall' in error;
}

function inodeOf(path: string): bigint {
  return statSync(path, { bigint: true, throwIfNoEntry: false })?.ino ?? -1n;
}

if (parentPort !== null) {
  const port = parentPort;
  const options: WorkerOptions = workerData;
  port.on(
    'message',
    serve(options, (message) => port.postMessage(message)),
  );
}
