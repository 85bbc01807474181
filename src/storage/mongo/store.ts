import { randomUUID } from 'node:crypto';
import { type Db, MongoClient, type MongoClientOptions, type TopologyDescription } from 'mongodb';
import type { Result } from '../../capture/domain.ts';
import { CapstanError } from '../../capture/errors.ts';
import type { Evidence } from '../../capture/evidence.ts';
import { gatherInserts } from '../gathered-inserts.ts';
import { LEASE_RENEWAL_MS, LeasedNode } from '../node-lease.ts';
import { asDetailed, withoutEvidence } from '../record.ts';
import type {
  DetailedResult,
  Keyset,
  Likeness,
  ResultFilter,
  ResultStore,
  SimilarResult,
  StoreState,
} from '../result-store.ts';
import { type Collections, collectionsOf, ensureIndexes, insertNew, noteHosts } from './collections.ts';
import { documentOf, evidenceOf, recordOf } from './documents.ts';
import { explain, mongoFailure } from './failure.ts';
import { createHostSample, type HostSample } from './host-sample.ts';
import { type MongoIdempotency, mongoIdempotency } from './idempotency.ts';
import { type MongoJobs, mongoJobs } from './jobs.ts';
import { claimNode, releaseNode } from './nodes.ts';
import { pageOf } from './pages.ts';
import { notePerceptions, similarTo } from './perceptions.ts';

const DEFAULT_DATABASE = 'capstan';
const FIRST_RETRY_MS = 500;
const MAX_RETRY_MS = 5000;

/** A server that is gone costs a caller this long, an election of a replica set less. */
const SERVER_SELECTION_MS = 3000;
/** A server that accepts and does not answer. */
const SOCKET_MS = 10_000;
/** How soon a server that came back is noticed. */
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

export interface MongoStoreOptions {
  /** `mongodb://` or `mongodb+srv://`; the database it names, or `capstan`. */
  readonly url: string;
  /** Called whenever the state changes, with what is wrong when it is `down`. Never told a password. */
  readonly onState?: (state: StoreState, reason: string) => void;
}

/** The events lie in the same database. */
export interface MongoStoreWithDatabase extends ResultStore {
  readonly database: Db;
}

/**
 * The store of many machines. Resolves when the server is reached, or after the first attempt that failed: then the
 * store is `down` and goes on trying. Rejects only when the URL is not one.
 */
export async function openMongoStore(options: MongoStoreOptions): Promise<MongoStoreWithDatabase> {
  const store = new MongoStore(options, clientOf(options.url));
  await store.settled;
  return store;
}

class MongoStore implements MongoStoreWithDatabase {
  readonly kind = 'mongo';
  readonly database: Db;
  readonly idempotency: MongoIdempotency;
  readonly jobs: MongoJobs;
  /** Resolves after the first attempt to reach the server, good or bad. */
  readonly settled: Promise<void>;

  readonly #client: MongoClient;
  readonly #collections: Collections;
  readonly #onState: (state: StoreState, reason: string) => void;
  readonly #owner = randomUUID();
  readonly #sample: HostSample;
  readonly #inserts = gatherInserts<DetailedResult>((results) => this.#insertAll(results));
  #state: StoreState = 'down';
  /** The indexes are there: before that nothing is asked, as it might scan everything. */
  #ready = false;
  #downSince = 0;
  #closed = false;
  #told: StoreState | undefined;
  #retryMs = FIRST_RETRY_MS;
  #retry: NodeJS.Timeout | undefined;
  #renewal: NodeJS.Timeout | undefined;
  readonly #node = new LeasedNode();

  constructor({ url, onState = () => {} }: MongoStoreOptions, client: MongoClient) {
    this.#client = client;
    this.database = client.db(databaseOf(url));
    this.#collections = collectionsOf(this.database);
    this.#sample = createHostSample(this.#collections, () => performance.now());
    this.#onState = onState;
    this.idempotency = mongoIdempotency(this.database, (work) => this.#ask(work));
    this.jobs = mongoJobs(this.database, (work) => this.#ask(work));
    client.on('topologyDescriptionChanged', ({ newDescription }) => this.#observe(newDescription));
    this.settled = this.#prepare();
  }

  get state(): StoreState {
    return this.#state;
  }

  async insert(result: Result, evidence: Evidence | null = null): Promise<void> {
    return this.#inserts.insert({ ...result, evidence });
  }

  get(id: number): Promise<DetailedResult | undefined> {
    return this.#ask(async () => {
      const [document, kept] = await Promise.all([
        this.#collections.results.findOne({ _id: id }),
        this.#collections.evidence.findOne({ _id: id }),
      ]);
      return document === null ? undefined : asDetailed(recordOf(document), kept?.evidence);
    });
  }

  page(filter: ResultFilter, limit: number, after?: Keyset): Promise<readonly Result[]> {
    return this.#ask(async () => (await pageOf(this.#collections, this.#sample, filter, limit, after)).map(recordOf));
  }

  similar(likeness: Likeness, limit: number): Promise<readonly SimilarResult[]> {
    return this.#ask(async () => {
      const similar = await similarTo(this.#collections, likeness, limit);
      const documents = await this.#collections.results.find({ _id: { $in: similar.map(({ id }) => id) } }).toArray();
      const records = new Map(documents.map((document) => [document._id, recordOf(document)]));
      return similar.flatMap(({ id, distance }) => {
        const record = records.get(id);
        return record === undefined ? [] : [{ ...record, distance }];
      });
    });
  }

  /** The results first: what a crash leaves is evidence that no result leads to, and is deleted with the next attempt. */
  delete(ids: readonly number[]): Promise<number> {
    return this.#ask(async () => {
      const ofThese = { _id: { $in: [...ids] } };
      const { deletedCount } = await this.#collections.results.deleteMany(ofThese);
      await this.#collections.evidence.deleteMany(ofThese);
      return deletedCount;
    });
  }

  oldest(limit: number, before: number, after = 0): Promise<readonly number[]> {
    return this.#ask(async () => {
      const documents = await this.#collections.results
        .find({ _id: { $gt: after, $lt: before } })
        .hint('_id_')
        .project<{ _id: number }>({ _id: 1 })
        .sort({ _id: 1 })
        .limit(limit)
        .toArray();
      return documents.map(({ _id }) => _id);
    });
  }

  async claimNode(): Promise<number | undefined> {
    return this.#node.renew(async () => {
      const number = await this.#ask(() => claimNode(this.#collections.nodes, this.#owner));
      this.#renewal ??= setInterval(() => void this.claimNode(), LEASE_RENEWAL_MS).unref();
      return number;
    });
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    await this.#inserts.idle();
    clearInterval(this.#renewal);
    clearTimeout(this.#retry);
    if (this.#node.number !== undefined && this.#state === 'up') {
      // Else the lease runs out by itself.
      await releaseNode(this.#collections.nodes, this.#owner).catch(() => undefined);
    }
    this.#closed = true;
    this.#state = 'down';
    await this.#client.close();
  }

  /** The result last: whoever finds it finds its evidence, and it is found by all that it is looked for by. */
  async #insertAll(results: readonly DetailedResult[]): Promise<void> {
    await this.#ask(async () => {
      const documents = results.map((result) => documentOf(withoutEvidence(result)));
      await Promise.all([
        noteHosts(this.#collections.hosts, documents),
        notePerceptions(this.#collections, documents),
        insertNew(this.#collections.evidence, results.flatMap(evidenceOf)),
      ]);
      await insertNew(this.#collections.results, documents);
    });
  }

  async #ask<T>(work: () => Promise<T>): Promise<T> {
    if (!this.#ready || this.#closed || this.#isLongDown) throw new CapstanError('database_unavailable');
    try {
      return await work();
    } catch (error) {
      throw mongoFailure(error);
    }
  }

  /** Waiting pays while an election may be under way, not for a server that has been gone for longer than that. */
  get #isLongDown(): boolean {
    return this.#state === 'down' && performance.now() - this.#downSince > SERVER_SELECTION_MS;
  }

  /** Connects and makes the indexes; again with back-off until it succeeds. From then on the driver reconnects. */
  async #prepare(): Promise<void> {
    try {
      await this.#client.connect();
      await ensureIndexes(this.#collections);
      await this.idempotency.prepare();
      await this.jobs.prepare();
      this.#ready = true;
      this.#setState('up', '');
    } catch (error) {
      if (this.#closed) return;
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
    if (this.#told === state) return;
    this.#told = state;
    this.#onState(state, state === 'up' ? '' : `MongoDB cannot be used: ${reason}`);
  }
}

function clientOf(url: string): MongoClient {
  try {
    return new MongoClient(url, CLIENT_OPTIONS);
  } catch {
    // The driver's text may quote the URL, and with it the password.
    throw new Error(
      'the MongoDB URL is not valid; it takes mongodb://[user:password@]host[:port][/database][?options]',
    );
  }
}

/** The name in the URL's path: the driver would make it `test` when there is none. */
function databaseOf(url: string): string {
  const [, name = ''] = /^mongodb(?:\+srv)?:\/\/[^/?]*\/([^?]*)/.exec(url) ?? [];
  return name === '' ? DEFAULT_DATABASE : decodeURIComponent(name);
}
