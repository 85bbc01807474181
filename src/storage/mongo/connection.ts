import { type Db, MongoClient, type MongoClientOptions, type TopologyDescription } from 'mongodb';
import { CapstanError } from '../../capture/errors.ts';
import { NewerSchemaError } from '../newer-schema-error.ts';
import type { StoreState } from '../result-store.ts';
import { explain, mongoFailure } from './failure.ts';

const DEFAULT_DATABASE = 'capstan';
const FIRST_RETRY_MS = 500;
const MAX_RETRY_MS = 5000;

/** Maximum wait of a caller for a server that is gone; longer than an election of a replica set. */
const SERVER_SELECTION_MS = 3000;
/** Time limit for a server that accepts connections and does not answer. */
const SOCKET_MS = 10_000;
/** Time until a server that came back is noticed. */
const HEARTBEAT_MS = 2000;
const POOL = 20;

const CLIENT_OPTIONS: MongoClientOptions = {
  appName: 'capstan',
  maxPoolSize: POOL,
  serverSelectionTimeoutMS: SERVER_SELECTION_MS,
  connectTimeoutMS: SERVER_SELECTION_MS,
  socketTimeoutMS: SOCKET_MS,
  waitQueueTimeoutMS: SOCKET_MS,
  heartbeatFrequencyMS: HEARTBEAT_MS,
  writeConcern: { w: 'majority', journal: true, wtimeoutMS: SOCKET_MS },
  ignoreUndefined: true,
};

/** Runs work against the server. Rejects with a `CapstanError`. */
export type Ask = <T>(work: () => Promise<T>) => Promise<T>;

/** Called whenever the state changes, with the reason when it is `down`. The reason never contains a password. */
export type OnState = (state: StoreState, reason: string) => void;

/** The connection to a MongoDB database: its state, and whether it may be used. */
export class MongoConnection {
  readonly database: Db;
  /** Resolves after the first attempt to reach the server, successful or not. Rejects with a `NewerSchemaError`. */
  readonly settled: Promise<void>;
  readonly ask: Ask = (work) => this.#ask(work);

  readonly #client: MongoClient;
  readonly #onState: OnState;
  readonly #migrate: (database: Db) => Promise<void>;
  #state: StoreState = 'down';
  /** True when the database is migrated and has its indexes: before that a query might scan everything. */
  #ready = false;
  #downSince = 0;
  #closed = false;
  #reported: StoreState | undefined;
  #retryMs = FIRST_RETRY_MS;
  #retry: NodeJS.Timeout | undefined;

  /** `migrate` brings the database up to date; it is retried with back-off when it rejects. */
  constructor(url: string, onState: OnState, migrate: (database: Db) => Promise<void>) {
    this.#client = clientOf(url);
    this.database = this.#client.db(databaseOf(url));
    this.#onState = onState;
    this.#migrate = migrate;
    this.#client.on('topologyDescriptionChanged', ({ newDescription }) => this.#observe(newDescription));
    this.settled = this.#prepare();
  }

  get state(): StoreState {
    return this.#state;
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#state = 'down';
    clearTimeout(this.#retry);
    await this.#client.close();
  }

  async #ask<T>(work: () => Promise<T>): Promise<T> {
    if (!this.#ready || this.#closed || this.#isLongDown) throw new CapstanError('database_unavailable');
    try {
      return await work();
    } catch (error) {
      throw mongoFailure(error);
    }
  }

  /** Waiting helps during an election, not when the server has been gone for longer than that. */
  get #isLongDown(): boolean {
    return this.#state === 'down' && performance.now() - this.#downSince > SERVER_SELECTION_MS;
  }

  /** Connects and migrates, with back-off until it succeeds. From then on the driver reconnects. */
  async #prepare(): Promise<void> {
    try {
      await this.#client.connect();
      await this.#migrate(this.database);
      this.#ready = true;
      this.#setState('up', '');
    } catch (error) {
      if (this.#closed) return;
      if (error instanceof NewerSchemaError && this.#reported === undefined) throw error;
      this.#setState('down', explain(error));
      this.#retry = setTimeout(() => void this.#prepare(), this.#retryMs).unref();
      this.#retryMs = Math.min(this.#retryMs * 2, MAX_RETRY_MS);
    }
  }

  #observe(description: TopologyDescription): void {
    if (!this.#ready) return;
    const servers = [...description.servers.values()];
    if (servers.some(({ isWritable }) => isWritable)) this.#setState('up', '');
    else {
      const reasons = servers.flatMap(({ error }) => (error === null ? [] : [explain(error)]));
      this.#setState('down', reasons[0] ?? 'no server takes writes');
    }
  }

  #setState(state: StoreState, reason: string): void {
    if (this.#closed) return;
    if (state === 'down' && this.#state === 'up') this.#downSince = performance.now();
    this.#state = state;
    if (this.#reported === state) return;
    this.#reported = state;
    this.#onState(state, state === 'up' ? '' : `MongoDB cannot be used: ${reason}`);
  }
}

function clientOf(url: string): MongoClient {
  try {
    return new MongoClient(url, CLIENT_OPTIONS);
  } catch {
    // The driver's text may quote the URL with its password.
    throw new Error(
      'the MongoDB URL is not valid; it takes mongodb://[user:password@]host[:port][/database][?options]',
    );
  }
}

/** Returns the database name in the URL's path; the driver would use `test` when there is none. */
function databaseOf(url: string): string {
  const [, name = ''] = /^mongodb(?:\+srv)?:\/\/[^/?]*\/([^?]*)/.exec(url) ?? [];
  return name === '' ? DEFAULT_DATABASE : decodeURIComponent(name);
}
