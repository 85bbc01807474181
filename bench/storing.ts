import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { createStorage, type Storage } from '../src/storage/storage.ts';
import { createRandom } from '../test/faults/random.ts';
import { captureOf } from '../test/storage/result-of.ts';
import { clientOf, s3Options, startS3 } from '../test/support/s3.ts';
import type { BenchOptions } from './support/bench.ts';
import { packedText, randomText } from './support/page-texts.ts';
import { median } from './support/statistics.ts';
import { atMost, type Finding, formatTable } from './support/table.ts';

const IMAGE_BYTES = 300_000;
const HTML = '<p>Grüße und mehr</p>'.repeat(1000);
const BUCKET = 'bench';
/** Number of captures that are stored in a row. Their uploads are awaited, and their CPU counts. */
const IN_A_ROW = 20;
/** Limits for what a store costs more than files, in milliseconds. */
const MORE_CPU_MS = { s3: 3, words: 8 };
const MORE_ANSWER_MS = 10;

type Kind = 'files' | 'words' | 's3';

/** Milliseconds of each capture. */
interface Cost {
  /** CPU of this process, the thread of SQLite included. */
  readonly cpu: number[];
  readonly answer: number[];
}

/** Stores captures in files, the same with words, and in an object store, in turns; SQLite has their records. */
export async function storing({ rounds, print, report }: BenchOptions): Promise<readonly Finding[]> {
  const directory = await mkdtemp(join(tmpdir(), 'capstan-bench-'));
  const server = process.env.S3_SERVER_BINARY === undefined ? undefined : await startS3(['--conditional-put']);
  if (server === undefined) report('storing: the object store is left out: S3_SERVER_BINARY names none');
  else (await clientOf(server, BUCKET)).close();
  const open = (kind: Kind) =>
    createStorage({
      dataDir: join(directory, kind),
      dbPath: join(directory, `${kind}.db`),
      ...(kind === 's3' && server !== undefined && s3Options(server, BUCKET)),
    });
  const kinds: readonly Kind[] = server === undefined ? ['files', 'words'] : ['files', 'words', 's3'];
  const stores = await Promise.all(kinds.map(async (kind) => ({ kind, storage: await open(kind), cost: noCost() })));
  try {
    for (let round = 0; round <= rounds; round += 1) {
      for (const { kind, storage, cost } of stores) await storeInARow(storage, kind, round === 0 ? noCost() : cost);
    }
  } finally {
    for (const { storage } of stores) await storage.close();
    await server?.kill();
    await rm(directory, { recursive: true });
  }
  const [files, ...others] = stores.map(({ kind, cost }) => ({ kind, ms: mediansOf(cost) }));
  if (files === undefined) return [];
  const rows = [files, ...others].map(({ kind, ms }) => [kind, ms.cpu.toFixed(2), ms.answer.toFixed(2)]);
  print(formatTable(['storing a capture with an image of 300 kB', 'CPU ms', 'answer ms'], rows));
  return others.flatMap(({ kind, ms }) => {
    const what = kind === 's3' ? 'in an object store' : 'with the words of its page';
    const more = (name: 'cpu' | 'answer', limit: number) =>
      atMost(`storing ${what}, more than in files: ${name}`, ms[name] - files.ms[name], limit, { unit: ' ms' });
    return kind === 's3'
      ? [more('cpu', MORE_CPU_MS.s3), more('answer', MORE_ANSWER_MS)]
      : [more('cpu', MORE_CPU_MS.words)];
  });
}

const noCost = (): Cost => ({ cpu: [], answer: [] });
const mediansOf = ({ cpu, answer }: Cost) => ({ cpu: median(cpu), answer: median(answer) });

async function storeInARow({ ids, captureStore }: Storage, kind: Kind, cost: Cost): Promise<void> {
  const random = createRandom(ids.next());
  const captures = Array.from({ length: IN_A_ROW }, () => ({
    image: randomBytes(IMAGE_BYTES),
    words: kind === 'words' ? packedText(randomText(random)) : undefined,
  }));
  const before = process.cpuUsage();
  for (const { image, words } of captures) {
    const begun = performance.now();
    await captureStore.keep({ ...captureOf(ids.next()), words }, { image, html: HTML });
    cost.answer.push(performance.now() - begun);
  }
  // Nothing tells that an upload has ended.
  while (captureStore.pending > 0) await delay(20);
  const { user, system } = process.cpuUsage(before);
  cost.cpu.push((user + system) / 1000 / IN_A_ROW);
}
