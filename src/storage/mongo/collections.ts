import type { Collection, Db, Document, IndexDescription, OptionalUnlessRequiredId } from 'mongodb';
import type { HostKey } from '../records/hosts.ts';
import type { EvidenceDocument, HostDocument, PerceptionDocument, ResultDocument, WordsDocument } from './documents.ts';
import { isOnlyDuplicates } from './failure.ts';

export interface Collections {
  readonly results: Collection<ResultDocument>;
  readonly hosts: Collection<HostDocument>;
  /** Evidence is separate from the results, so that lists do not read it. */
  readonly evidence: Collection<EvidenceDocument>;
  /** Words of pages are separate from the results, as evidence is. */
  readonly words: Collection<WordsDocument>;
  readonly perceptions: Collection<PerceptionDocument>;
}

/** The order of every list, and the end of every index. */
export const NEWEST_FIRST = { probed_at: -1, _id: -1 } as const;

export const BY_TIME = 'by_time';
export const BY_URL = 'by_urls';
export const BY_TERM = 'by_term';
export const BY_PERCEPTION = 'by_perception';
export const BY_PERCEPTION_OF_KEY = 'by_perception_of_key';
export const BY_BAND = 'by_band';
export const BY_WORD = 'by_word';

interface HostField {
  readonly inResults: string;
  readonly inHosts: string;
  /** Name of its index, in both. */
  readonly index: string;
}

export const HOST_FIELDS: Readonly<Record<HostKey, HostField>> = {
  host: { inResults: 'host', inHosts: '_id', index: 'by_host' },
  reversed: { inResults: 'host_reversed', inHosts: 'host_reversed', index: 'by_host_reversed' },
  unicode: { inResults: 'host_unicode', inHosts: 'host_unicode', index: 'by_host_unicode' },
};

/** Results without a hash have no entry. */
const WHERE_PERCEIVED = { partialFilterExpression: { perception_hash: { $gt: '' } } };
/** Hosts without an internationalised label have no entry. */
const WHERE_UNICODE = { partialFilterExpression: { host_unicode: { $exists: true } } };

/** Results of keys without names have no entry. */
const WHERE_NAMED_KEY = { partialFilterExpression: { api_key_name: { $exists: true } } };

// The index by time ends with the hosts' keys, so that filtering by host while reading by time needs only the index.
const RESULT_INDEXES: IndexDescription[] = [
  { name: BY_TIME, key: { ...NEWEST_FIRST, host: 1, host_reversed: 1 } },
  { name: BY_URL, key: { url_keys: 1, ...NEWEST_FIRST } },
  { name: HOST_FIELDS.host.index, key: { host: 1, ...NEWEST_FIRST } },
  { name: HOST_FIELDS.reversed.index, key: { host_reversed: 1, ...NEWEST_FIRST } },
  { name: HOST_FIELDS.unicode.index, key: { host_unicode: 1, ...NEWEST_FIRST }, ...WHERE_UNICODE },
  { name: BY_TERM, key: { terms: 1, ...NEWEST_FIRST } },
  { name: BY_PERCEPTION, key: { perception_hash: 1, _id: -1 }, ...WHERE_PERCEIVED },
  { name: BY_PERCEPTION_OF_KEY, key: { api_key_name: 1, perception_hash: 1, _id: -1 }, ...WHERE_NAMED_KEY },
];

const HOST_INDEXES: IndexDescription[] = [
  { name: HOST_FIELDS.host.index, key: { _id: 1, newest: -1 } },
  { name: HOST_FIELDS.reversed.index, key: { host_reversed: 1, newest: -1, _id: 1 } },
  { name: HOST_FIELDS.unicode.index, key: { host_unicode: 1, newest: -1, _id: 1 }, ...WHERE_UNICODE },
];

/** Entries are small, because a page has hundreds: a coarse time, and no id. They are compressed on disk. */
const COMPRESSED = { storageEngine: { wiredTiger: { configString: 'block_compressor=zstd' } } };
const WORDS_INDEXES: IndexDescription[] = [{ name: BY_WORD, key: { terms: 1, moment: -1 }, ...COMPRESSED }];

const PERCEPTION_INDEXES: IndexDescription[] = [{ name: BY_BAND, key: { bands: 1, _id: 1 } }];

export function collectionsOf(db: Db): Collections {
  return {
    results: db.collection('results'),
    hosts: db.collection('hosts'),
    evidence: db.collection('evidence'),
    words: db.collection('words'),
    perceptions: db.collection('perceptions'),
  };
}

export async function ensureIndexes({ results, hosts, words, perceptions }: Collections): Promise<void> {
  await results.createIndexes(RESULT_INDEXES);
  await hosts.createIndexes(HOST_INDEXES);
  await words.createIndexes(WORDS_INDEXES);
  await perceptions.createIndexes(PERCEPTION_INDEXES);
}

/**
 * Notes the hosts of results that are about to be inserted, and how new they are. Call it before the results are
 * inserted, because a result without its host would not be found, while a host without results, or with older ones,
 * costs only an extra read.
 */
export async function noteHosts(hosts: Collection<HostDocument>, documents: readonly ResultDocument[]): Promise<void> {
  const newest = new Map<string, HostDocument>();
  for (const { host, host_reversed, host_unicode, probed_at } of documents) {
    const known = newest.get(host);
    if (known !== undefined && known.newest >= probed_at) continue;
    const unicode = host_unicode === undefined ? {} : { host_unicode };
    newest.set(host, { _id: host, host_reversed, ...unicode, newest: probed_at });
  }
  await hosts.bulkWrite(
    [...newest.values()].map(({ _id, newest, ...keys }) => ({
      updateOne: { filter: { _id }, update: { $max: { newest }, $setOnInsert: keys }, upsert: true },
    })),
    { ordered: false },
  );
}

/** Inserts the documents whose `_id` does not exist yet. */
export async function insertNew<T extends Document>(
  collection: Collection<T>,
  documents: readonly OptionalUnlessRequiredId<T>[],
): Promise<void> {
  if (documents.length === 0) return;
  try {
    await collection.insertMany(documents, { ordered: false });
  } catch (error) {
    if (!isOnlyDuplicates(error)) throw error;
  }
}
