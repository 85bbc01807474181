/* Limits on what API keys store. The table in docs/security.md is written from them. */

import { MAX_SCAN_TARGETS } from './work/scan-limits.ts';

/** A number of documents, and their bytes. */
export interface Amount {
  readonly count: number;
  readonly bytes: number;
}

export interface StoredLimit extends Amount {
  /** Owner of the limit. `shared`: all keys together, of which each named key has a share. */
  readonly per: 'shared' | 'key' | 'watch' | 'page' | 'scan' | 'receiver';
  /** The things that are counted. */
  readonly of: string;
  /** Effect of exceeding the limit. */
  readonly beyond: string;
}

const KIB = 1024;
const MIB = 1024 * KIB;
const GIB = 1024 * MIB;

export const STORED_LIMITS = {
  watches: {
    ...{ per: 'shared', count: 100_000, bytes: 4 * GIB },
    of: 'watches, with their bodies, labels and runs',
    beyond: '`429 too_many_watches`',
  },
  watchRuns: {
    ...{ per: 'watch', count: 1000, bytes: MIB },
    of: 'runs of a watch; `keep` may be less',
    beyond: 'the oldest are removed',
  },
  keyRuns: {
    ...{ per: 'key', count: 100_000_000, bytes: GIB },
    of: 'runs of all watches of a key, each of which has the same part',
    beyond: 'the oldest of a watch are removed',
  },
  queries: {
    ...{ per: 'shared', count: 1000, bytes: 8 * MIB },
    of: 'standing queries',
    beyond: '`429 too_many_queries`',
  },
  sharedLinks: {
    ...{ per: 'shared', count: 10_000, bytes: 8 * MIB },
    of: 'shared links that have not expired, and feeds',
    beyond: '`429 too_many_shared_links`',
  },
  receivers: {
    ...{ per: 'shared', count: 1000, bytes: 8 * MIB },
    of: 'receivers that keys have given',
    beyond: '`429 too_many_receivers`',
  },
  deliveries: {
    ...{ per: 'shared', count: 100_000, bytes: 512 * MIB },
    of: 'messages that wait for receivers, and dead letters',
    beyond: 'further messages are dropped',
  },
  deliveriesOfReceiver: {
    ...{ per: 'receiver', count: 10_000, bytes: 64 * MIB },
    of: 'messages that wait for a receiver',
    beyond: 'further messages are dropped',
  },
  deadLetters: {
    ...{ per: 'receiver', count: 1000, bytes: 64 * MIB },
    of: 'dead letters of a receiver, for 7 days',
    beyond: 'the oldest are removed',
  },
  unfinishedJobs: {
    ...{ per: 'shared', count: 1000, bytes: 256 * MIB },
    of: 'unfinished jobs; their requests, compressed',
    beyond: '`429 queue_full`',
  },
  finishedJobs: {
    ...{ per: 'key', count: 1000, bytes: 256 * MIB },
    of: 'jobs, of which the finished ones count in bytes, with their outcomes',
    beyond: 'the oldest finished ones are removed',
  },
  idempotencyKeys: {
    ...{ per: 'key', count: 100_000, bytes: 256 * MIB },
    of: 'idempotency keys, with their answers, compressed',
    beyond: 'the oldest answers are removed',
  },
  labels: {
    ...{ per: 'key', count: 1000, bytes: MIB },
    of: 'labels of captures that are suggested',
    beyond: 'the oldest are not suggested any more',
  },
  scanList: {
    ...{ per: 'scan', count: MAX_SCAN_TARGETS, bytes: 64 * MIB },
    of: 'targets of a scan; its list, compressed, which also counts as the requests of an unfinished job',
    beyond: '`400 invalid_request`, or `413 payload_too_large` for the bytes',
  },
  scanText: {
    ...{ per: 'scan', count: 1000, bytes: GIB },
    of: 'sitemaps of a scan; the text that is read of them and of its list',
    beyond: 'the other sitemaps are left out, or `413 payload_too_large` for the bytes',
  },
  page: {
    ...{ per: 'page', count: 1000, bytes: 2 * MIB },
    of: 'items in a page of watches, runs, dead letters or outcomes of a job',
    beyond: 'the page ends with the item that reaches it; `Link` leads to the rest',
  },
  results: {
    ...{ per: 'page', count: 1000, bytes: 4 * MIB },
    of: 'records in a page of results, or of captures that are similar to one',
    beyond: 'the page ends with the record that reaches it; `Link` leads to the rest, except of similar captures',
  },
} as const satisfies Readonly<Record<string, StoredLimit>>;

/** Writes a number of bytes for people: `256 MiB`. */
export function bytesText(bytes: number): string {
  return bytes >= GIB ? `${bytes / GIB} GiB` : `${bytes / MIB} MiB`;
}
