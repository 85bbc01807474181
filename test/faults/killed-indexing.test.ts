import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { MongoClient } from 'mongodb';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { indexWords } from '../../src/storage/maintenance/index-words.ts';
import { strayWords } from '../../src/storage/maintenance/stray-words.ts';
import { collectionsOf } from '../../src/storage/mongo/collections.ts';
import type { ResultStore } from '../../src/storage/ports/result-store.ts';
import { createStorage } from '../../src/storage/storage.ts';
import { describeWithSharedMongo } from '../support/describe-with-mongo.ts';
import { emptyDatabase } from '../support/mongo.ts';
import { makeDirectory } from '../support/temporary-directory.ts';

/** The first and the last words of each page. */
const WHOLE = '"word0 word1" word500 "word998 word999"';

describeWithSharedMongo('words of pages in MongoDB', (url) => {
  let client: MongoClient;
  let dataDir: string;

  beforeEach(async () => {
    client = await new MongoClient(url()).connect();
    dataDir = join(await makeDirectory(), 'data');
  });

  afterEach(async () => {
    await client.close();
    await emptyDatabase(url());
  });

  const start = (work: 'store' | 'index', node = 0) =>
    spawn(
      process.execPath,
      ['--no-warnings', join(import.meta.dirname, 'words-writer.ts'), work, dataDir, url(), String(node)],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    );

  /** Stores captures until a process is killed, after this many answers. Resolves with their ids. */
  async function storeUntil(answers: number, node: number): Promise<readonly number[]> {
    const child = start('store', node);
    const exit = once(child, 'exit');
    const answered: number[] = [];
    for await (const line of createInterface({ input: child.stdout })) {
      answered.push(Number(line));
      if (answered.length === answers) child.kill('SIGKILL');
    }
    await exit;
    return answered;
  }

  async function idsOf(results: ResultStore, words?: string): Promise<readonly number[]> {
    const found = await results.page({ by: 'all', where: words === undefined ? {} : { words } }, 1000);
    return found.map(({ id }) => id);
  }

  it('are whole for every stored capture, whenever the process that stores is killed', async () => {
    const answered: number[] = [];
    for (const [node, answers] of [1, 3, 8].entries()) answered.push(...(await storeUntil(answers, node)));
    const { results, captureStore, close } = await createStorage({ dataDir, mongoUrl: url() });
    try {
      await expect.poll(() => captureStore.pending).toBe(0);
      const stored = await idsOf(results);
      expect(stored).toEqual(expect.arrayContaining(answered));
      expect(await idsOf(results, WHOLE)).toEqual(stored);
    } finally {
      await close();
    }
  });

  it('are whole or missing when `capstan db index` is killed, and complete when it is run again', async () => {
    await storeUntil(40, 5);
    const { words } = collectionsOf(client.db());
    await words.deleteMany({});
    const child = start('index');
    const exit = once(child, 'exit');
    await expect.poll(() => words.countDocuments(), { interval: 1 }).toBeGreaterThan(2);
    child.kill('SIGKILL');
    await exit;
    const { results, captureStore, close } = await createStorage({ dataDir, mongoUrl: url() });
    try {
      await expect.poll(() => captureStore.pending).toBe(0);
      const indexed = await words.countDocuments();
      expect(await idsOf(results, WHOLE)).toHaveLength(indexed);
      await indexWords({ dataDir, dbPath: null, mongoUrl: url(), artifacts: 'files' }, () => {});
      expect(await idsOf(results, WHOLE)).toEqual(await idsOf(results));
      expect(await strayWords(results)).toEqual([]);
    } finally {
      await close();
    }
  });
});
