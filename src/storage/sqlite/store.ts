import { randomUUID } from 'node:crypto';
import { extname, resolve } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { Result } from '../../capture/domain.ts';
import { CapstanError } from '../../capture/errors.ts';
import type { Evidence } from '../../capture/evidence.ts';
import { KEPT_EVENTS } from '../event-log.ts';
import { gatherInserts } from '../gathered-inserts.ts';
import { hostRanges } from '../hosts.ts';
import { LeasedNode } from '../node-lease.ts';
import type { EventTable } from '../own-event-log.ts';
import { asDetailed, asRecord, placeOf, timeOf, urlKey } from '../record.ts';
import type {
  DetailedResult,
  Keyset,
  Likeness,
  ResultFilter,
  ResultStore,
  SimilarResult,
  StoreState,
} from '../result-store.ts';
import { sqliteIdempotency } from './idempotency.ts';
import { sqliteJobs } from './jobs.ts';
import type {
  Answer,
  Call,
  CallFailure,
  CallName,
  Calls,
  FromWorker,
  Row,
  RowFilter,
  ToWorker,
  WorkerOptions,
} from './protocol.ts';

const RESPAWN_MS = 1000;

export interface SqliteStoreOptions {
  /** The database file; it and its directory are made when they are not there. */
  readonly path: string;
  /** Called whenever the state changes, with what is wrong when it is `down`. */
  readonly onState?: (state: StoreState, reason: string) => void;
  /** Events that are kept at least. */
  readonly keptEvents?: number;
}

/** The events lie in the same file. */
export interface SqliteStoreWithEvents extends ResultStore {
  readonly events: EventTable;
}

/**
 * The store of one machine: a SQLite file, worked by a thread of its own. Resolves when the file is open, or cannot be
 * opened; then the store is `down`, says why with every call, and goes on trying.
 */
export async function openSqliteStore(options: SqliteStoreOptions): Promise<SqliteStoreWithEvents> {
  const store = new SqliteStore(options);
  await store.settled;
  return store;
}

interface Waiting {
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: CapstanError) => void;
}

class SqliteStore implements SqliteStoreWithEvents {
  readonly kind = 'sqlite';
  readonly events: EventTable = {
    append: async (rows) => {
      await this.#ask({ name: 'appendEvents', args: { rows } });
    },
    read: (after, limit) => this.#ask({ name: 'readEvents', args: { after, limit } }),
    newest: async () => (await this.#ask({ name: 'newestEvent', args: null })) ?? undefined,
  };
  readonly idempotency = sqliteIdempotency((args) => this.#ask({ name: 'idempotency', args }));
  readonly jobs = sqliteJobs((call) => this.#ask(call));
  /** Resolves with the first news of the file, good or bad. */
  readonly settled: Promise<void>;

  readonly #path: string;
  readonly #keptEvents: number;
  readonly #onState: (state: StoreState, reason: string) => void;
  readonly #owner = randomUUID();
  readonly #inserts = gatherInserts<Row>((rows) => this.#ask({ name: 'insert', args: { rows } }));
  readonly #waiting = new Map<number, Waiting>();
  #settle: () => void = () => {};
  #worker: Worker;
  #state: StoreState = 'down';
  /** Undefined until the first news: a file that cannot be opened is news too. */
  #told: StoreState | undefined;
  #reason = 'it is not open yet';
  #calls = 0;
  #closed = false;
  /** The thread is gone, and the next one not started yet. */
  #lost = false;
  readonly #node = new LeasedNode();

  constructor({ path, onState = () => {}, keptEvents = KEPT_EVENTS }: SqliteStoreOptions) {
    this.#path = resolve(path);
    this.#keptEvents = keptEvents;
    this.#onState = onState;
    this.settled = new Promise((settle) => {
      this.#settle = settle;
    });
    this.#worker = this.#spawn();
  }

  get state(): StoreState {
    return this.#state;
  }

  async insert(result: Result, evidence: Evidence | null = null): Promise<void> {
    return this.#inserts.insert(rowOf(result, evidence));
  }

  async get(id: number): Promise<DetailedResult | undefined> {
    const row = await this.#ask({ name: 'get', args: { id } });
    if (row === null) return undefined;
    return asDetailed(JSON.parse(row.record), row.evidence === null ? null : JSON.parse(row.evidence));
  }

  async page(filter: ResultFilter, limit: number, after?: Keyset): Promise<readonly Result[]> {
    const records = await this.#ask({
      name: 'page',
      args: { filter: rowFilterOf(filter), limit, place: placeOf(after) },
    });
    return records.map((record) => asRecord(JSON.parse(record)));
  }

  async similar(likeness: Likeness, limit: number): Promise<readonly SimilarResult[]> {
    const rows = await this.#ask({ name: 'similar', args: { likeness, limit } });
    return rows.map(({ record, distance }) => ({ ...asRecord(JSON.parse(record)), distance }));
  }

  async delete(ids: readonly number[]): Promise<number> {
    return this.#ask({ name: 'delete', args: { ids } });
  }

  async oldest(limit: number, before: number, after = 0): Promise<readonly number[]> {
    return this.#ask({ name: 'oldest', args: { limit, before, after } });
  }

  async claimNode(): Promise<number | undefined> {
    return this.#node.renew(
      async () => (await this.#ask({ name: 'claimNode', args: { owner: this.#owner } })) ?? undefined,
    );
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    await this.#inserts.idle();
    if (this.#closed) return;
    this.#closed = true;
    this.#state = 'down';
    this.#reason = 'the store is closed';
    const worker = this.#worker;
    if (this.#lost) return;
    worker.ref();
    const ended = new Promise<void>((resolve) => worker.once('exit', () => resolve()));
    this.#send({ call: ++this.#calls, name: 'close', args: { owner: this.#owner } });
    await ended;
  }

  #ask<N extends CallName>(call: Extract<Call, { name: N }>): Promise<Calls[N]['answer']>;
  #ask(call: Call): Promise<Answer> {
    return new Promise((resolve, reject) => {
      if (this.#closed || this.#lost) {
        reject(this.#unavailable(this.#reason));
        return;
      }
      this.#waiting.set(++this.#calls, { resolve, reject });
      // Only a question that waits for its answer keeps the process alive.
      this.#worker.ref();
      this.#send({ call: this.#calls, ...call });
    });
  }

  #send(message: ToWorker): void {
    this.#worker.postMessage(message);
  }

  #spawn(): Worker {
    // The thread's file is TypeScript in a checkout and JavaScript where the package is installed.
    const file = new URL(`./worker${extname(import.meta.url)}`, import.meta.url);
    const worker = new Worker(file, {
      workerData: { path: this.#path, keptEvents: this.#keptEvents } satisfies WorkerOptions,
      execArgv: ['--disable-warning=ExperimentalWarning'],
    });
    worker.on('message', (message: FromWorker) => this.#receive(message));
    let why = 'its thread ended';
    worker.on('error', (error) => {
      why = `its thread ended: ${error.message}`;
    });
    worker.on('exit', () => this.#lose(why));
    return worker;
  }

  #receive(message: FromWorker): void {
    if (message.type === 'state') {
      this.#setState(message.up ? 'up' : 'down', message.reason);
      this.#settle();
      if (this.#waiting.size === 0) this.#worker.unref();
      return;
    }
    const waiting = this.#waiting.get(message.call);
    this.#waiting.delete(message.call);
    if (this.#waiting.size === 0) this.#worker.unref();
    if (message.type === 'answer') waiting?.resolve(message.answer);
    else waiting?.reject(this.#errorOf(message.failure));
  }

  #setState(state: StoreState, reason: string): void {
    this.#reason = reason;
    if (this.#closed) return;
    this.#state = state;
    if (this.#told === state) return;
    this.#told = state;
    this.#onState(state, state === 'up' ? '' : `${this.#path} cannot be used: ${reason}`);
  }

  #lose(reason: string): void {
    for (const { reject } of this.#waiting.values()) reject(this.#unavailable(reason));
    this.#waiting.clear();
    this.#settle();
    if (this.#closed) return;
    this.#lost = true;
    this.#setState('down', reason);
    this.#respawnLater();
  }

  /** A thread needs file descriptors of its own: without any it cannot be started yet. */
  #respawnLater(): void {
    setTimeout(() => {
      if (this.#closed) return;
      try {
        this.#worker = this.#spawn();
        this.#lost = false;
      } catch {
        this.#respawnLater();
      }
    }, RESPAWN_MS).unref();
  }

  #errorOf({ kind, reason }: CallFailure): CapstanError {
    return kind === 'unavailable'
      ? this.#unavailable(reason)
      : new CapstanError('internal', undefined, { cause: new Error(reason) });
  }

  #unavailable(reason: string): CapstanError {
    return new CapstanError('database_unavailable', `The database cannot be used: ${reason}.`);
  }
}

function rowOf(result: Result, evidence: Evidence | null): Row {
  return {
    id: result.id,
    probedAt: timeOf(result.probed_at),
    host: result.host,
    urlKey: urlKey(result.url),
    record: JSON.stringify(result),
    evidence: evidence === null ? null : JSON.stringify(evidence),
    // A record that an earlier version left in its outbox has none.
    perceptionHash: result.perception_hash ?? null,
  };
}

function rowFilterOf(filter: ResultFilter): RowFilter {
  switch (filter.by) {
    case 'all':
      return filter;
    case 'url':
      return { by: 'url', urlKey: urlKey(filter.url) };
    case 'host':
      return { by: 'host', ranges: hostRanges(filter.host) };
  }
}
