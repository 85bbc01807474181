import { type Db, MongoClient, type MongoClientOptions, type TopologyDescription } from 'mongodb';
import { errorText } from '../../capture/basics/error-text.ts';
import { CapstanError } from '../../capture/errors.ts';
import { NewerSchemaError } from '../failures/newer-schema-error.ts';
import type { StoreState } from '../ports/result-store.ts';
import { mongoFailure } from './failure.ts';
import { WorkUnderWay } from './work-under-way.ts';

const DEFAULT_DATABASE = 'capstan';
const FIRST_RETRY_MS = 500;
const MAX_RETRY_MS = 5000;

/** Maximum time that a caller waits for an unreachable server, in milliseconds; longer than a replica set election. */
const SERVER_SELECTION_MS = 3000;
/** Time limit for an answer of the server when the URL sets none, in milliseconds. */
const SILENCE_MS = 10_000;
/** Maximum time until a server that can be reached again is noticed, in milliseconds. */
const HEARTBEAT_MS = 2000;
const POOL = 20;

const optionsOf = (silenceMs: number): MongoClientOptions => ({
  appName: 'capstan',
  maxPoolSize: POOL,
  serverSelectionTimeoutMS: SERVER_SELECTION_MS,
  connectTimeoutMS: SERVER_SELECTION_MS,
  socketTimeoutMS: silenceMs,
  waitQueueTimeoutMS: silenceMs,
  heartbeatFrequencyMS: HEARTBEAT_MS,
  writeConcern: { w: 'majority', journal: true, wtimeoutMS: silenceMs },
  ignoreUndefined: true,
});

interface MongoConnectionOptions {
  /** `timeoutMS` or `socketTimeoutMS` in it is the time limit for each answer of the server. */
  readonly url: string;
  readonly onState: OnState;
  readonly migrate: Migrate;
}

/**
 * Runs work on the same database over a connection of its own, without a time limit for an answer: the index of a large
 * collection takes minutes. The work ends when the server is gone.
 */
export type Patiently = (work: (database: Db) => Promise<void>) => Promise<void>;

/** Brings the database up to date; called again with back-off when it rejects. */
export type Migrate = (database: Db, patiently: Patiently) => Promise<void>;

/** Runs work against the server. Rejects with a `CapstanError`. `givenUp`: aborted when the work is given up. */
export type Ask = <T>(work: (givenUp?: AbortSignal) => Promise<T>) => Promise<T>;

/** Called whenever the state changes, with the reason when it is `down`. The reason never contains a password. */
export type OnState = (state: StoreState, reason: string) => void;

/** The connection to a MongoDB database: its state, and whether it may be used. */
export class MongoConnection {
  readonly database: Db;
  /** Resolves after the first attempt to reach the server, successful or not. Rejects with a `NewerSchemaError`. */
  readonly settled: Promise<void>;
  readonly ask: Ask = (work) => this.#ask(work);

  readonly #client: MongoClient;
  readonly #underWay: WorkUnderWay;
  readonly #onState: OnState;
  readonly #migrate: () => Promise<void>;
  #patient: MongoClient | undefined;
  #state: StoreState = 'down';
  /** True when the database is migrated and has its indexes: before that a query might scan everything. */
  #ready = false;
  #downSince = 0;
  #closed = false;
  #reported: StoreState | undefined;
  #retryMs = FIRST_RETRY_MS;
  #retry: NodeJS.Timeout | undefined;

  constructor({ url: given, onState, migrate }: MongoConnectionOptions) {
    const { url, silenceMs = SILENCE_MS } = splitLimit(given);
    this.#client = clientOf(url, silenceMs);
    this.#underWay = new WorkUnderWay(this.#client, silenceMs);
    this.database = this.#client.db(databaseOf(url));
    this.#onState = onState;
    this.#migrate = () =>
      migrate(this.database, async (work) => {
        const client = clientOf(url, 0);
        this.#patient = client;
        const patientWork = () => work(client.db(databaseOf(url)));
        await new WorkUnderWay(client, silenceMs).run(patientWork).finally(() => client.close());
      });
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
    await this.#patient?.close();
    await this.#client.close();
  }

  async #ask<T>(work: (givenUp?: AbortSignal) => Promise<T>): Promise<T> {
    if (!this.#ready || this.#closed || this.#isLongDown) throw new CapstanError('database_unavailable');
    try {
      return await this.#underWay.run(work);
    } catch (error) {
      throw mongoFailure(error);
    }
  }

  /** Whether the server has been away for longer than an election takes, so that waiting for it does not help. */
  get #isLongDown(): boolean {
    return this.#state === 'down' && performance.now() - this.#downSince > SERVER_SELECTION_MS;
  }

  /** Connects and migrates, with back-off until it succeeds. From then on the driver reconnects. */
  async #prepare(): Promise<void> {
    try {
      await this.#client.connect();
      await this.#underWay.run(this.#migrate);
      this.#ready = true;
      this.#setState('up', '');
    } catch (error) {
      // Ends a migration that was given up, before the next attempt. Not awaited: it may wait for the server.
      this.#patient?.close().catch(() => undefined);
      if (this.#closed) return;
      if (error instanceof NewerSchemaError && this.#reported === undefined) throw error;
      // The driver's texts contain no credentials.
      this.#setState('down', errorText(error));
      this.#retry = setTimeout(() => void this.#prepare(), this.#retryMs).unref();
      this.#retryMs = Math.min(this.#retryMs * 2, MAX_RETRY_MS);
    }
  }

  #observe(description: TopologyDescription): void {
    if (!this.#ready) return;
    const servers = [...description.servers.values()];
    if (servers.some(({ isWritable }) => isWritable)) this.#setState('up', '');
    else {
      const reasons = servers.flatMap(({ error }) => (error === null ? [] : [errorText(error)]));
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

function clientOf(url: string, silenceMs: number): MongoClient {
  try {
    return new MongoClient(url, optionsOf(silenceMs));
  } catch {
    // The driver's text may quote the URL with its password.
    throw new Error(
      'the MongoDB URL is not valid; it takes mongodb://[user:password@]host[:port][/database][?options]',
    );
  }
}

/**
 * Takes the time limit for an answer out of the URL. The driver's own `timeoutMS` has no effect, and `optionsOf` takes
 * precedence over `socketTimeoutMS`.
 */
function splitLimit(url: string): { readonly url: string; readonly silenceMs?: number } {
  const [place = '', query] = url.split('?', 2);
  const limit = /^(?:timeout|socketTimeout)MS=([1-9]\d{0,8})$/i;
  const options = query?.split('&') ?? [];
  const [, ms] = options.map((option) => limit.exec(option)).find((found) => found !== null) ?? [];
  if (ms === undefined) return { url };
  const others = options.filter((option) => !limit.test(option));
  return { url: others.length === 0 ? place : `${place}?${others.join('&')}`, silenceMs: Number(ms) };
}

/** Returns the database name in the URL's path; the driver would use `test` when there is none. */
function databaseOf(url: string): string {
  const [, name = ''] = /^mongodb(?:\+srv)?:\/\/[^/?]*\/([^?]*)/.exec(url) ?? [];
  return name === '' ? DEFAULT_DATABASE : decodeURIComponent(name);
}
