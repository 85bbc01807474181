import type { Db } from 'mongodb';
import type { StoredRecord } from '../../capture/result/result.ts';
import type { ResultStore, RetainedBy, StoreState } from '../ports/result-store.ts';
import { gatherInserts } from '../records/gathered-inserts.ts';
import { isMarked, marksOf, sameMarks } from '../records/marks.ts';
import { asDetailed, withoutEvidence } from '../records/record.ts';
import { collectionsOf, insertNew, noteHosts } from './collections.ts';
import type { Ask } from './connection.ts';
import { documentOf, evidenceOf, recordOf, type WordsDocument, wordsOf } from './documents.ts';
import { readByWords } from './page-by-words.ts';
import { pageOf } from './pages.ts';
import { notePerceptions, similarTo } from './perceptions.ts';
import { readInParts } from './read-in-parts.ts';

interface MongoResults {
  readonly store: ResultStore;
  /** Resolves when no insert is running. */
  idle(): Promise<void>;
}

export function mongoResults(database: Db, ask: Ask, connection: { readonly state: StoreState }): MongoResults {
  const collections = collectionsOf(database);
  const inserts = gatherInserts<StoredRecord>(insertAll);

  /** Inserts each result last: once it can be found, its evidence, its words and its index entries exist. */
  function insertAll(results: readonly StoredRecord[]): Promise<void> {
    return ask(async () => {
      const documents = results.map((result) => documentOf(withoutEvidence(result)));
      await Promise.all([
        noteHosts(collections.hosts, documents),
        notePerceptions(collections, documents),
        insertNew(collections.evidence, results.flatMap(evidenceOf)),
        insertNew(
          collections.words,
          results.flatMap((result) => wordsOf(withoutEvidence(result), result.words)),
        ),
      ]);
      await insertNew(collections.results, documents);
    });
  }

  async function ofThisKey(ids: readonly number[], ofKey: string): Promise<readonly number[]> {
    const own = { _id: { $in: [...ids] }, ...ofKeyOnly(ofKey) };
    const found = await collections.results.find(own).project<{ _id: number }>({ _id: 1 }).toArray();
    return found.map(({ _id }) => _id);
  }

  const store: ResultStore = {
    kind: 'mongo',
    get state() {
      return connection.state;
    },
    insert: async (record) => inserts.insert({ evidence: null, ...record }),
    wordsOf: (ids, ofKey) =>
      ask(async () => {
        const wanted = ofKey === undefined ? ids : await ofThisKey(ids, ofKey);
        const documents = await collections.words
          .find({ _id: { $in: [...wanted] } })
          .project<Pick<WordsDocument, '_id' | 'words'>>({ words: 1 })
          .toArray();
        return new Map(documents.map(({ _id, words }) => [_id, words]));
      }),
    indexed: (limit, after = 0) =>
      ask(async () => {
        const found = collections.words
          .find({ _id: { $gt: after } })
          .hint('_id_')
          .sort({ _id: 1 })
          .limit(limit);
        return (await found.project<{ _id: number }>({ _id: 1 }).toArray()).map(({ _id }) => _id);
      }),
    addWords: (id, words) =>
      ask(async () => {
        const document = await collections.results.findOne({ _id: id });
        const [added] = document === null ? [] : wordsOf(recordOf(document), words);
        if (added === undefined) return false;
        const { upsertedCount } = await collections.words.updateOne(
          { _id: id },
          { $setOnInsert: added },
          { upsert: true },
        );
        return upsertedCount > 0;
      }),
    get: (id) =>
      ask(async () => {
        const [document, kept] = await Promise.all([
          collections.results.findOne({ _id: id }),
          collections.evidence.findOne({ _id: id }),
        ]);
        return document === null ? undefined : asDetailed(recordOf(document), kept?.evidence);
      }),
    records: (ids, ofKey) =>
      ask(async () => {
        const documents = await collections.results.find({ _id: { $in: [...ids] }, ...ofKeyOnly(ofKey) }).toArray();
        return new Map(documents.map((document) => [document._id, recordOf(document)]));
      }),
    keyOf: (id) =>
      ask(async () => {
        const found = await collections.results.findOne({ _id: id }, { projection: { api_key_name: 1 } });
        return found === null ? undefined : (found.api_key_name ?? '');
      }),
    page: (filter, limit, after) =>
      ask(() => {
        if (filter.where?.words !== undefined) {
          return readInParts(limit, after, readByWords(collections, filter, limit, after));
        }
        return readInParts(limit, after, async (part, from) =>
          (await pageOf(collections, filter, part, from)).map(recordOf),
        );
      }),
    similar: (likeness, limit) => ask(() => similarTo(collections, likeness, limit)),
    mark: (id, before, after) =>
      ask(async () => {
        const found = await collections.results.findOne({ _id: id });
        if (found === null) return false;
        const record = recordOf(found);
        if (!sameMarks(record, before)) return false;
        const { labels, note, hold } = marksOf(after);
        const { terms } = documentOf({ ...record, labels, note, hold });
        const isUnchanged = { _id: id, terms: found.terms, labels: found.labels, note: found.note, hold: found.hold };
        const { matchedCount } = await collections.results.updateOne(isUnchanged, {
          $set: { labels, note, hold, terms },
        });
        return matchedCount > 0;
      }),
    marked: (ids) =>
      ask(async () => {
        const found = await collections.results
          .find({ _id: { $in: [...ids] } })
          .project<{ _id: number } & RetainedBy>({ labels: 1, hold: 1 })
          .toArray();
        const marks = found.map(({ _id, labels, hold }) => [_id, { labels, hold }] as const);
        return new Map(marks.filter(([, one]) => isMarked(one)));
      }),
    // The results are deleted first: a crash leaves evidence and words without a result, which the next attempt
    // deletes.
    delete: (ids) =>
      ask(async () => {
        const ofThese = { _id: { $in: [...ids] } };
        const { deletedCount: deleted } = await collections.results.deleteMany({ ...ofThese, hold: null });
        const kept = await collections.results.find(ofThese).project<{ _id: number }>({ _id: 1 }).toArray();
        const held = kept.map(({ _id }) => _id);
        const ofGone = { _id: { $in: ids.filter((id) => !held.includes(id)) } };
        await Promise.all([collections.evidence.deleteMany(ofGone), collections.words.deleteMany(ofGone)]);
        return { deleted, held };
      }),
    oldest: (limit, before, after = 0) =>
      ask(async () => {
        const documents = await collections.results
          .find({ _id: { $gt: after, $lt: before } })
          .hint('_id_')
          .project<{ _id: number }>({ _id: 1 })
          .sort({ _id: 1 })
          .limit(limit)
          .toArray();
        return documents.map(({ _id }) => _id);
      }),
  };
  return { store, idle: () => inserts.idle() };
}

/** Condition of the records that one API key requested; `''`: no named key. */
function ofKeyOnly(key: string | undefined) {
  return key === undefined ? {} : { api_key_name: key === '' ? { $exists: false } : key };
}
