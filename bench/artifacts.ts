import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { createStorage, type Storage, type StorageOptions } from '../src/storage/storage.ts';
import { exampleResult } from '../test/support/example-result.ts';
import { startMongo } from '../test/support/mongo.ts';
import { percentile } from './support/statistics.ts';

/*
 * Time to store a capture (files, record, answer) and to read its image, one at a time, in files and in GridFS:
 * `node bench/artifacts.ts`, with MONGOMS_SYSTEM_BINARY. Rounds are interleaved; the first ones are not counted.
 */

const IMAGE_BYTES = 300_000;
const HTML = `<p>${'text '.repeat(10_000)}`;
const ROUNDS = 20;
const WARM_UP = 5;

interface Contender {
  readonly name: string;
  readonly storage: Storage;
  readonly stored: number[];
  readonly read: number[];
}

const directory = await mkdtemp(join(tmpdir(), 'capstan-artifacts-'));
const mongo = await startMongo();

async function contender(name: string, options: Omit<StorageOptions, 'dataDir'>): Promise<Contender> {
  const storage = await createStorage({ dataDir: join(directory, name), ...options });
  return { name, storage, stored: [], read: [] };
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work();
  return performance.now() - began;
}

const contenders = [
  await contender('files, SQLite', { dbPath: join(directory, 'results.db') }),
  await contender('files, MongoDB', { mongoUrl: `${mongo.url}files` }),
  await contender('GridFS, MongoDB', { mongoUrl: `${mongo.url}gridfs`, artifacts: 'gridfs' }),
];
for (let round = -WARM_UP; round < ROUNDS; round += 1) {
  for (const { storage, stored, read } of contenders) {
    const id = storage.ids.next();
    const record = { ...exampleResult(id), probed_at: new Date().toISOString(), evidence: null };
    const image = randomBytes(IMAGE_BYTES);
    const storing = await timed(() => storage.captureStore.keep(record, { image, html: HTML }));
    const reading = await timed(async () => {
      const artifact = await storage.artifacts.open(id, 'image');
      return artifact === undefined ? undefined : buffer(artifact.stream());
    });
    if (round < 0) continue;
    stored.push(storing);
    read.push(reading);
  }
}
const cell = (values: readonly number[], share: number) => `${percentile(values, share).toFixed(1)} ms`;
console.log('| store | stored, median | p90 | image read, median | p90 |\n|---|---|---|---|---|');
for (const { name, stored, read } of contenders) {
  console.log(`| ${name} | ${cell(stored, 0.5)} | ${cell(stored, 0.9)} | ${cell(read, 0.5)} | ${cell(read, 0.9)} |`);
}
for (const { storage } of contenders) await storage.close();
await mongo.remove();
await rm(directory, { recursive: true, force: true });
