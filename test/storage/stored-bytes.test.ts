import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { STORED_LIMITS } from '../../src/capture/stored-limits.ts';
import type { Database } from '../../src/storage/ports/database.ts';
import { jobKeyOf } from '../../src/storage/ports/job-store.ts';
import { NEVER_MS } from '../../src/storage/ports/shared-link-store.ts';
import { describeInEachDatabase } from './each-database.ts';

const MIB = 1024 * 1024;
const LARGE = 'x'.repeat(MIB);

/** Adds a document of about 1 MiB for an API key, and returns a function that removes it. */
type Add = (database: Database, apiKeyName: string) => Promise<() => Promise<unknown>>;

/** Kinds of documents with a limit of 8 MiB for all keys, the code beyond it, and their name in its text. */
const KINDS: readonly (readonly [kind: string, code: string, text: string, add: Add])[] = [
  [
    'watches',
    'too_many_watches',
    'watches',
    async ({ watches }, apiKeyName) => {
      const id = nextId();
      const watch = { id, apiKeyName, host: 'a.test', everyMs: null, dueAt: null, labels: [], keysShare: true };
      const texts = { summary: 's', definition: LARGE, progress: 'p' };
      await watches.add({ ...watch, ...texts }, { ...STORED_LIMITS.watches, bytes: 8 * MIB });
      return () => watches.remove(id);
    },
  ],
  [
    'standing queries',
    'too_many_queries',
    'standing queries',
    async ({ queries }, apiKeyName) => {
      const id = String(nextId());
      const where = { position: 0, notify: [], notifyAfter: 0, keysShare: true };
      await queries.add({ id, apiKeyName, filter: LARGE, ...where });
      return () => queries.remove(id);
    },
  ],
  [
    'unfinished jobs',
    'queue_full',
    'unfinished jobs',
    async ({ jobs }, apiKeyName) => {
      const id = `${jobKeyOf(apiKeyName)}${randomUUID()}`;
      const job = { id, kind: 'batch', total: 1, work: Buffer.from(LARGE), keysShare: true } as const;
      await jobs.add(job, { ...STORED_LIMITS.unfinishedJobs, bytes: 8 * MIB });
      return () => jobs.cancel(id);
    },
  ],
  [
    'feeds',
    'too_many_shared_links',
    'shared links',
    async ({ sharedLinks }, apiKeyName) => {
      const id = String(nextId());
      const link = { id, apiKeyName, fingerprint: null, createdAt: Date.now(), expiresAt: NEVER_MS };
      await sharedLinks.add({ ...link, source: { label: LARGE } }, true);
      return () => sharedLinks.removeFeed(id);
    },
  ],
  [
    'receivers',
    'too_many_receivers',
    'receivers',
    async ({ receivers }, apiKeyName) => {
      const name = String(nextId());
      await receivers.add({ apiKeyName, name, body: LARGE }, true);
      return () => receivers.remove(apiKeyName, name);
    },
  ],
];

let ids = 0;
const nextId = () => {
  ids += 1;
  return ids;
};

describeInEachDatabase((open) => {
  let database: Database;

  beforeAll(async () => {
    database = await open();
  });

  afterAll(() => database?.close());

  it.each(KINDS)(
    'refuses %s of a key whose share of the bytes is full, and none of another key',
    async (_kind, code, text, add) => {
      const removals: Awaited<ReturnType<Add>>[] = [];
      const filled = async () => {
        while (removals.length < 8) removals.push(await add(database, 'flood'));
      };
      await expect(filled()).rejects.toMatchObject({
        code,
        ...(code === 'queue_full' && { retryAfterSeconds: 5 }),
        message: expect.stringMatching(
          new RegExp(`^The API key has \\d+ KiB of ${text}, and its share has no room for \\d+ KiB more`),
        ),
      });
      expect(removals.length).toBeGreaterThanOrEqual(3);
      expect(removals.length).toBeLessThanOrEqual(4);
      const removeOther = await add(database, 'shop');
      await removals.pop()?.();
      removals.push(await add(database, 'flood'), removeOther);
      for (const remove of removals) await remove();
    },
  );
});
