import fc from 'fast-check';
import { type Binary, type Db, type Document, MongoClient } from 'mongodb';
import { afterAll, beforeAll, expect, it, onTestFinished, vi } from 'vitest';
import { packWords } from '../../src/capture/result/page-words.ts';
import { LeasedNode } from '../../src/storage/documents/nodes.ts';
import { type Collections, collectionsOf, ensureIndexes } from '../../src/storage/mongo/collections.ts';
import { mongoDocuments, prepareDocuments } from '../../src/storage/mongo/document-store.ts';
import { wordsOf } from '../../src/storage/mongo/documents.ts';
import { openMongo } from '../../src/storage/mongo/open.ts';
import { readByWords } from '../../src/storage/mongo/page-by-words.ts';
import { pageOf } from '../../src/storage/mongo/pages.ts';
import { similarTo } from '../../src/storage/mongo/perceptions.ts';
import type { Keyset, ResultFilter, StoreState } from '../../src/storage/ports/result-store.ts';
import { bandsOf } from '../../src/storage/records/perception.ts';
import { describeWithRelayedMongo } from '../support/describe-with-mongo.ts';
import { emptyDatabase } from '../support/mongo.ts';
import { resultOf } from './result-of.ts';
import { describeResultStore } from './result-store.contract.ts';
import { startHoldingServer } from './slow-server.ts';

const ID = 300_000_000_000_000;
/** Difference between two ids: about four results per millisecond. */
const APART = 1000;

describeWithRelayedMongo('The MongoDB store', (server) => {
  let client: MongoClient;
  let databases = 0;

  beforeAll(async () => {
    client = await new MongoClient(server.url).connect();
  });

  afterAll(() => client?.close());

  const freshUrl = () => {
    databases += 1;
    return `${server.url}test-${databases}`;
  };

  it('leases 32 nodes, then none, and one again after its lease ran out', async () => {
    const db = client.db(new URL(freshUrl()).pathname.slice(1));
    const nodes = db.collection<{ _id: string; freeAt: number }>('nodes');
    const documents = mongoDocuments(db, (work) => work());
    const claimed: (number | undefined)[] = [];
    for (let at = 0; at < 33; at += 1) claimed.push(await new LeasedNode(documents).claim());
    expect(claimed).toEqual([...Array(32).keys(), undefined]);
    await nodes.updateOne({ _id: '09' }, { $set: { freeAt: 0 } });
    const late = new LeasedNode(documents);
    expect(await late.claim()).toBe(9);
    expect(await late.claim()).toBe(9);
    expect(await new LeasedNode(documents).claim()).toBeUndefined();
    await late.release();
    const released = await nodes.findOne({ _id: '09' });
    expect(released?.freeAt).toBeLessThan(Date.now() + 5000);
  });

  describeResultStore(async () => {
    const url = `${server.url}contract`;
    return { open: () => openMongo({ url }), remove: () => emptyDatabase(url) };
  });

  /** Inserts words of pages a second apart, without results, and returns the time of the last. */
  async function insertWords(collection: Collections['words'], texts: readonly string[], first = 0): Promise<void> {
    const pages = texts.flatMap((text, at) => wordsOf(resultAt(first + at), packWords({ text, places: [] })));
    await collection.insertMany(pages);
  }
  const resultAt = (at: number) =>
    resultOf(ID + at, { probed_at: new Date(Date.UTC(2026, 0, 1) + at * 1000).toISOString() });

  /** Returns the profiler's entries about the words of pages during some work. */
  async function readsOfWords(db: Db, work: () => Promise<void>): Promise<readonly Document[]> {
    await db.command({ profile: 2 });
    await work();
    await db.command({ profile: 0 });
    return db
      .collection('system.profile')
      .find({ ns: `${db.databaseName}.words` })
      .toArray();
  }

  it('finds a phrase among pages that have its words in another order, and refuses to read too many', async () => {
    const url = freshUrl();
    const { results, close } = await openMongo({ url });
    onTestFinished(close);
    const db = client.db(new URL(url).pathname.slice(1));
    const collections = collectionsOf(db);
    await results.insert({ ...resultAt(0), words: packWords({ text: 'a rare blue whale', places: [] }) });
    await insertWords(collections.words, Array<string>(3000).fill('whale blue'), 1);
    const reads = await readsOfWords(db, async () => {
      const found = await results.page({ by: 'all', where: { words: '"blue whale"' } }, 10);
      expect(found.map(({ id }) => id)).toEqual([ID]);
    });
    // Of all pages that have both words, the server sends the one that has them in this order.
    const sent = reads.filter(({ op, command }) => op === 'query' && command.filter !== undefined);
    expect(sent.reduce((sum, { nreturned }) => sum + Number(nreturned), 0)).toBe(1);
    const reader = (words: string) => readByWords(collections, { by: 'all', where: { words } }, 10, undefined, 1000);
    await expect(reader('"blue whale"')(10)).rejects.toMatchObject({ code: 'phrase_too_frequent' });
    expect((await reader('"blue whale" rare')(10)).map(({ id }) => id)).toEqual([ID]);
    // Each part of a page may read as many.
    await results.insert({ ...resultAt(3001), words: packWords({ text: 'a blue whale', places: [] }) });
    await insertWords(collections.words, Array<string>(900).fill('whale blue'), 3002);
    await results.insert({ ...resultAt(3902), words: packWords({ text: 'a blue whale', places: [] }) });
    await insertWords(collections.words, Array<string>(600).fill('whale blue'), 3903);
    const next = reader('"blue whale"');
    expect((await next(1)).map(({ id }) => id)).toEqual([ID + 3902]);
    expect((await next(1)).map(({ id }) => id)).toEqual([ID + 3001]);
    await expect(next(1)).rejects.toMatchObject({ code: 'phrase_too_frequent' });
  });

  it('reads as much for a rare word and a frequent one, however many pages have the frequent one', async () => {
    const examinedOf = async (pages: number) => {
      const url = freshUrl();
      const { results, close } = await openMongo({ url });
      onTestFinished(close);
      const db = client.db(new URL(url).pathname.slice(1));
      const rare = Array.from({ length: 20 }, (_, at) => Math.floor((at * pages) / 20));
      await insertWords(
        collectionsOf(db).words,
        Array.from({ length: pages }, (_, at) => (rare.includes(at) ? 'often seldom' : 'often')),
      );
      await Promise.all(rare.map((at) => results.insert(resultAt(at))));
      const reads = await readsOfWords(db, async () => {
        expect(await results.page({ by: 'all', where: { words: 'often seldom' } }, 10)).toHaveLength(10);
      });
      return reads.reduce((sum, { keysExamined }) => sum + Number(keysExamined), 0);
    };
    const [few, many] = [await examinedOf(1500), await examinedOf(6000)];
    expect(many).toBeLessThanOrEqual(few * 1.1);
    expect(many).toBeLessThan(1000);
  });

  it('looks words up where the rarest of all conditions is met, and reads each list once for a page', async () => {
    const url = freshUrl();
    const { results, close } = await openMongo({ url });
    onTestFinished(close);
    const db = client.db(new URL(url).pathname.slice(1));
    const pages = 3000;
    await insertWords(collectionsOf(db).words, Array<string>(pages).fill('often always'));
    const ofHost = Array.from({ length: 30 }, (_, at) => at * 100);
    await Promise.all(
      ofHost.map((at) => results.insert({ ...resultAt(at), host: 'rare.example', response_code: 200 })),
    );
    const reads = await readsOfWords(db, async () => {
      const where = { words: 'often always', status: '200', from: resultAt(0).probed_at };
      expect(await results.page({ by: 'host', host: 'rare.example', where }, 30)).toHaveLength(30);
    });
    const examined = reads.reduce((sum, { keysExamined }) => sum + Number(keysExamined), 0);
    // The newest 120 entries of two lists, and 30 pages in each and for their documents.
    expect(examined).toBeLessThan(500);
    expect(reads.length).toBeLessThanOrEqual(5);
  });

  it('finds the newest pages with the beginning of a word, of more entries than can be sorted', async () => {
    const url = freshUrl();
    const { results, close } = await openMongo({ url });
    onTestFinished(close);
    const db = client.db(new URL(url).pathname.slice(1));
    const beginningSo = [...'abcdefghij'].map((letter) => `ferr${letter}`).join(' ');
    const pages = Array.from({ length: 2040 }, (_, at) => (at % 4 === 0 ? beginningSo : 'other'));
    await insertWords(collectionsOf(db).words, pages);
    const newest = Array.from({ length: 10 }, (_, at) => 2036 - 4 * at);
    await Promise.all(newest.map((at) => results.insert(resultAt(at))));
    const found = await results.page({ by: 'all', where: { words: 'ferr*' } }, 10);
    expect(found.map(({ id }) => id)).toEqual(newest.map((at) => ID + at));
  });

  it('reads the words of pages from their index, and documents only where the words meet', async () => {
    const url = freshUrl();
    const { results, close } = await openMongo({ url });
    onTestFinished(close);
    const db = client.db(new URL(url).pathname.slice(1));
    const textOf = (at: number) => `${at % 2 === 0 ? 'even' : 'odd'} ${at % 97 === 0 ? 'seldom' : 'often'}`;
    for (let at = 0; at < 1000; at += 1) {
      void results.insert({ ...resultAt(at), words: packWords({ text: textOf(at), places: [] }) });
    }
    await results.insert({ ...resultOf(ID + 1000), words: packWords({ text: 'even', places: [] }) });
    const reads = await readsOfWords(db, async () => {
      expect(await results.page({ by: 'all', where: { words: 'even seldom' } }, 50)).toHaveLength(6);
    });
    const examined = reads.map(({ docsExamined }) => Number(docsExamined));
    expect(examined.reduce((sum, one) => sum + one)).toBe(6);
  });

  it('uses the database named in its URL, and capstan when none is named', async () => {
    const unnamed = client.db('capstan');
    onTestFinished(async () => void (await unnamed.dropDatabase()));
    const store = await openMongo({ url: new URL('/', server.url).href });
    await store.results.insert(resultOf(ID));
    await store.close();
    const document = await unnamed.collection<{ _id: number }>('results').findOne({ _id: ID });
    expect(document).toMatchObject({ _id: ID, host: 'example.com', host_reversed: 'com.example.' });
  });

  it('holds no requests of ended jobs, which may contain credentials', async () => {
    const url = freshUrl();
    const { jobs, close } = await openMongo({ url });
    for (const id of ['finished', 'cancelled']) {
      await jobs.add({
        id,
        keysShare: false,
        kind: 'screenshot',
        total: 1,
        work: Buffer.from('Authorization: Bearer'),
      });
      await jobs.take('me');
    }
    await jobs.finish('finished', 'me', { state: 'completed' });
    await jobs.cancel('cancelled');
    await close();
    const collection = client.db(new URL(url).pathname.slice(1)).collection<{ data: Binary }>('jobs');
    const kept = await collection.find().toArray();
    expect(kept.map(({ data }) => data.length())).toEqual([0, 0]);
  });

  it('reads only indexes, and no more of them than the answer needs', async () => {
    const url = freshUrl();
    const store = await openMongo({ url });
    const results = Array.from({ length: 3000 }, (_, at) => {
      const host = at % 2 === 0 ? 'hot.example.com' : `h${at % 600}.example.org`;
      const title = at % 10 === 1 ? 'sparse' : 'frequent';
      return resultOf(ID + at * APART, {
        host,
        url: `https://x/${at % 100}`,
        title,
        response_code: at % 30 === 1 ? 404 : 200,
      });
    });
    await Promise.all(results.map((result) => store.results.insert(result)));
    await store.close();

    const collections = collectionsOf(client.db(new URL(url).pathname.slice(1)));
    const spies = [
      vi.spyOn(collections.results, 'find'),
      vi.spyOn(collections.results, 'aggregate'),
      vi.spyOn(collections.hosts, 'find'),
    ];
    const examined = async (filter: ResultFilter, limit: number, after?: Keyset) => {
      for (const spy of spies) spy.mockClear();
      const page = await pageOf(collections, filter, limit, after);
      const asked = spies.flatMap((spy) => spy.mock.results.map(({ value }) => value));
      const plans: Plan[] = [];
      for (const cursor of asked)
        if (isExplainable(cursor)) plans.push(planOf(await cursor.clone().explain('executionStats')));
      expect(plans.length).toBe(asked.length);
      return {
        found: page.length,
        keys: plans.reduce((sum, { keys }) => sum + keys, 0),
        documents: plans.reduce((sum, { documents }) => sum + documents, 0),
        stages: new Set(plans.flatMap(({ stages }) => stages)),
      };
    };
    const middle = { probedAt: resultOf(ID + 1500 * APART).probed_at, id: ID + 1500 * APART };

    // A list reads its page and the first key after it.
    for (const after of [undefined, middle]) {
      const all = await examined({ by: 'all' }, 100, after);
      expect(all).toMatchObject({ found: 100, documents: 100 });
      expect(all.keys).toBeLessThanOrEqual(102);
      const byUrl = await examined({ by: 'url', url: 'https://x/7' }, 10, after);
      expect(byUrl).toMatchObject({ found: 10, documents: 10 });
      expect(byUrl.keys).toBeLessThanOrEqual(12);

      // One host with half of the results.
      const hot = await examined({ by: 'host', host: 'hot.example.com' }, 100, after);
      expect(hot).toMatchObject({ found: 100, documents: 100 });
      expect(hot.keys).toBeLessThan(110);

      // 60 hosts: their index entries are merged, not read and sorted.
      const few = await examined({ by: 'host', host: 'h1' }, 20, after);
      expect(few).toMatchObject({ found: 20, documents: 20 });
      expect(few.keys).toBeLessThan(300);
      expect(few.stages).toContain('SORT_MERGE');

      // Half of the results on 300 hosts: the maximum number of hosts to merge, then the newest results.
      const many = await examined({ by: 'host', host: 'h' }, 10, after);
      expect(many).toMatchObject({ found: 10, documents: 10 });
      expect(many.keys).toBeLessThan(400);

      // A rare status and many hosts, whose common terms the index combines.
      const rare = await examined({ by: 'host', host: 'h', where: { status: '4xx', text: 'sparse' } }, 20, after);
      expect(rare).toMatchObject({ found: 20, documents: 20 });
      expect(rare.keys).toBeLessThan(24);

      // A rare word and many hosts: the hosts are counted, then only results with the word are read.
      const word = await examined({ by: 'host', host: 'h', where: { text: 'sparse' } }, 20, after);
      expect(word).toMatchObject({ found: 20, documents: 20 });
      expect(word.keys).toBeLessThan(500);

      // A network of several prefixes, which every result is in: their index entries are merged.
      const network = await examined({ by: 'all', where: { address: '192.0.0.0/22' } }, 20, after);
      expect(network).toMatchObject({ found: 20, documents: 20 });
      expect(network.keys).toBeLessThan(40);

      for (const { stages } of [all, byUrl, hot, few, rare, word, network]) expect(stages).not.toContain('SORT');
      for (const { stages } of [all, byUrl, hot, few, many, rare, word]) expect(stages).not.toContain('COLLSCAN');
    }
    expect(await examined({ by: 'host', host: 'nothing' }, 100)).toMatchObject({ found: 0, documents: 0 });
  });

  it('finds visually similar captures by indexes only, however many others there are', async () => {
    const url = freshUrl();
    const store = await openMongo({ url });
    const hashes = fc.sample(
      fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }).map((hash) => hash.toString(16).padStart(16, '0')),
      { numRuns: 3000, seed: 4 },
    );
    const like = ['0123456789abcdef', '0123456789abcdee', '0123456789abcdef'];
    await Promise.all(
      [...hashes, ...like].map((perception_hash, at) => store.results.insert(resultOf(ID + at, { perception_hash }))),
    );
    await store.close();

    const collections = collectionsOf(client.db(new URL(url).pathname.slice(1)));
    const spies = [vi.spyOn(collections.results, 'find'), vi.spyOn(collections.perceptions, 'find')];
    const found = await similarTo(collections, { hash: '0123456789abcdef', distance: 5, except: ID + 3000 }, 100);
    expect(found).toEqual([
      { id: ID + 3002, distance: 0 },
      { id: ID + 3001, distance: 1 },
    ]);
    const plans: Plan[] = [];
    for (const cursor of spies.flatMap((spy) => spy.mock.results.map(({ value }) => value))) {
      if (isExplainable(cursor)) plans.push(planOf(await cursor.clone().explain('executionStats')));
    }
    expect(plans).toHaveLength(3);
    for (const { keys, documents, stages } of plans) {
      expect(stages).not.toContain('COLLSCAN');
      expect(stages).not.toContain('SORT');
      expect(documents).toBe(0);
      expect(keys).toBeLessThan(200);
    }
  });

  it('lists jobs, outcomes, watches and expired answers in the order of an index', async () => {
    const database = new URL(freshUrl()).pathname.slice(1);
    const watched = await new MongoClient(server.url, { monitorCommands: true }).connect();
    try {
      const db = watched.db(database);
      await prepareDocuments(db);
      const documents = mongoDocuments(db, (work) => work());
      const asked: object[] = [];
      watched.on('commandStarted', ({ command: { find, filter, sort, limit } }) => {
        if (find !== undefined) asked.push({ find, filter, sort, limit });
      });
      const newestFirst = { by: 'createdAt', isDescending: true, limit: 10 } as const;
      const isFree = ['freeAt', '<=', 5] as const;
      await documents.list('jobs', [['phase', '=', 'unfinished'], isFree], { by: 'createdAt', limit: 10 });
      await documents.list('jobs', [['apiKey', '=', 'key']], newestFirst);
      const ofJob = ['job', '=', 'job'] as const;
      await documents.list('job_results', [ofJob, ['position', '>', 5]], { by: 'position', limit: 10 });
      const ofKey = ['apiKey', '=', 'key'] as const;
      await documents.list('watches', [ofKey, ['id', '>', '1']], { limit: 10 });
      await documents.list('watches', [isFree, ['host', 'not in', ['host']]], { by: 'freeAt', limit: 1 });
      await documents.list('watches', [['plausibleFrom', '>', 5]], { by: 'plausibleFrom', limit: 500 });
      await documents.list('watches', [['owner', '>', '']], { by: 'owner' });
      await documents.list('idempotency', [['expiresAt', '<=', 5]], { by: 'expiresAt', limit: 20 });
      const plans = await Promise.all(
        asked.map(async (explain) => {
          const { executionStats } = await db.command({ explain, verbosity: 'executionStats' });
          return planOf(executionStats);
        }),
      );
      expect(plans).toHaveLength(8);
      for (const { stages } of plans) {
        expect(stages).not.toContain('COLLSCAN');
        expect(stages).not.toContain('SORT');
      }
    } finally {
      await watched.close();
    }
  });

  it('reads similarity candidates in chunks of 1,000, so that no search blocks the event loop', async () => {
    const database = new URL(freshUrl()).pathname.slice(1);
    const watched = await new MongoClient(server.url, { monitorCommands: true }).connect();
    try {
      const collections = collectionsOf(watched.db(database));
      await ensureIndexes(collections);
      const hashes = Array.from({ length: 3500 }, (_, at) => at.toString(16).padStart(16, '0'));
      await collections.perceptions.insertMany(hashes.map((_id) => ({ _id, bands: bandsOf(_id) })));
      let asked = 0;
      watched.on('commandStarted', ({ command }) => {
        if (command.find === 'perceptions' || command.collection === 'perceptions') asked += 1;
      });
      await similarTo(collections, { hash: '0000000000000000', distance: 15, except: 0 }, 10);
      expect(asked).toBeGreaterThan(3);
    } finally {
      await watched.close();
    }
  });

  it('finds the newest results of many rare hosts, even when the entry of a host names a newer time', async () => {
    const url = freshUrl();
    const store = await openMongo({ url });
    const rare = Array.from({ length: 900 }, (_, at) =>
      resultOf(ID + at * APART, { host: `rare${at % 310}.example.org` }),
    );
    const hot = Array.from({ length: 2500 }, (_, at) => resultOf(ID + (900 + at) * APART, { host: 'hot.example.com' }));
    await Promise.all([...rare, ...hot].map((result) => store.results.insert(result)));
    const expected = rare.map(({ id }) => id).reverse();
    const list = async (limit: number, pages: number) => {
      const ids: number[] = [];
      let after: Keyset | undefined;
      for (let page = 0; page < pages; page += 1) {
        const results = await store.results.page({ by: 'host', host: 'rare' }, limit, after);
        ids.push(...results.map(({ id }) => id));
        const last = results.at(-1);
        if (last !== undefined) after = { probedAt: last.probed_at, id: last.id };
      }
      return ids;
    };
    expect(await list(10, 3)).toEqual(expected.slice(0, 30));
    expect(await list(1000, 1)).toEqual(expected);
    // The state after a crash between the host and its result.
    const { hosts } = collectionsOf(client.db(new URL(url).pathname.slice(1)));
    await hosts.updateMany({ _id: /^rare[13-9]/ }, { $set: { newest: new Date() } });
    expect(await list(10, 3)).toEqual(expected.slice(0, 30));
    await store.close();
  });

  it.each(['timeoutMS', 'sockettimeoutms'])(
    'gives up a read when the server has not answered within %s of the URL',
    async (name) => {
      await using held = await startHoldingServer(server.url);
      const url = `${held.url}${new URL(freshUrl()).pathname.slice(1)}`;
      const patient = await openMongo({ url });
      await patient.results.insert(resultOf(ID));
      const bounded = await openMongo({ url: `${url}?retryReads=true&${name}=2000` });
      await expect.poll(() => bounded.results.state).toBe('up');
      held.hold('find');
      // Sent first, so that it would be given up first with the same limit.
      const late = patient.results.page({ by: 'all' }, 1);
      await expect(bounded.results.page({ by: 'all' }, 1)).rejects.toMatchObject({ code: 'database_unavailable' });
      held.release();
      expect(await late).toEqual([resultOf(ID)]);
      expect(await bounded.results.page({ by: 'all' }, 1)).toEqual([resultOf(ID)]);
      await patient.close();
      await bounded.close();
    },
  );

  it('gives up work that does not end after its server was disconnected, and aborts its signal', async () => {
    const held = await startHoldingServer(server.url);
    const store = await openMongo({ url: `${held.url}${new URL(freshUrl()).pathname.slice(1)}?timeoutMS=500` });
    const onAbort = vi.fn();
    const asked = store.ask((givenUp) => {
      givenUp?.addEventListener('abort', onAbort);
      return new Promise<never>(() => {});
    });
    await held[Symbol.asyncDispose]();
    await expect(asked).rejects.toMatchObject({ code: 'database_unavailable' });
    expect(onAbort).toHaveBeenCalledOnce();
    await store.close();
  });

  it('never reveals the password', async () => {
    const states: string[] = [];
    const onState = (_: StoreState, reason: string) => states.push(reason);
    const store = await openMongo({
      url: server.url.replace('mongodb://', 'mongodb://me:verysecret@'),
      onState,
    });
    const refused: unknown = await store.results.get(ID).catch((error: unknown) => error);
    await store.close();
    expect(refused).toMatchObject({ code: 'database_unavailable' });
    expect(states).toHaveLength(1);
    await expect(openMongo({ url: 'mongodb://me:verysecret@:x:y/' })).rejects.toThrow('the MongoDB URL is not valid');
    const told = JSON.stringify([states, String(refused), refused instanceof Error && String(refused.cause)]);
    expect(told).not.toContain('verysecret');
  });

  it('reports down while its server is down, and recovers by itself', async () => {
    const onState = vi.fn<(state: StoreState, reason: string) => void>();
    const store = await openMongo({ url: freshUrl(), onState });
    await store.results.insert(resultOf(ID));
    await client.close();
    await server.stop();
    await expect.poll(() => store.results.state).toBe('down');
    expect(onState.mock.lastCall?.[1]).toMatch(/^MongoDB cannot be used: ./);
    await Promise.all(
      [store.results.insert(resultOf(ID + 1)), store.results.page({ by: 'all' }, 1)].map((asked) =>
        expect(asked).rejects.toMatchObject({ code: 'database_unavailable' }),
      ),
    );

    const late = await openMongo({ url: `${server.url}late` });
    expect(late.results.state).toBe('down');
    expect(await late.nodes.claim()).toBeUndefined();

    await server.start();
    await expect.poll(() => [store.results.state, late.results.state]).toEqual(['up', 'up']);
    await store.results.insert(resultOf(ID + 1));
    expect(await store.results.page({ by: 'all' }, 2)).toEqual([resultOf(ID + 1), resultOf(ID)]);
    // Indexes are also created by a process that starts late.
    await late.results.insert(resultOf(ID));
    expect(await late.results.page({ by: 'host', host: 'example' }, 1)).toEqual([resultOf(ID)]);
    await store.close();
    await late.close();
    client = await new MongoClient(server.url).connect();
  });
});

interface Plan {
  readonly keys: number;
  readonly documents: number;
  readonly stages: readonly string[];
}

interface Explainable {
  clone(): { explain(verbosity: 'executionStats'): Promise<object> };
}

function isExplainable(cursor: unknown): cursor is Explainable {
  return typeof cursor === 'object' && cursor !== null && 'clone' in cursor;
}

/** Documents and keys that the server reports as examined, anywhere in its answer. */
function planOf(explained: object): Plan {
  let keys = 0;
  let documents = 0;
  const stages: string[] = [];
  const visit = (part: unknown): void => {
    if (typeof part !== 'object' || part === null) return;
    if ('totalKeysExamined' in part) keys += Number(part.totalKeysExamined);
    if ('totalDocsExamined' in part) documents += Number(part.totalDocsExamined);
    if ('stage' in part) stages.push(String(part.stage));
    for (const inner of Object.values(part)) visit(inner);
  };
  visit(explained);
  return { keys, documents, stages };
}
