import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { createStorage, type Storage } from '../src/storage/storage.ts';
import { createRandom } from '../test/faults/random.ts';
import { captureOf } from '../test/storage/result-of.ts';
import { clientOf, s3Options, startS3 } from '../test/support/s3.ts';
import { makeDirectory } from '../test/support/temporary-directory.ts';
import type { BenchOptions } from './support/bench.ts';
import { packedText, randomText } from './support/page-texts.ts';
import { median } from './support/statistics.ts';
import { atMost, type Finding, formatTable } from './support/table.ts';

const IMAGE_BYTES = 300_000;
const HTML = '<p>Grüße und mehr</p>'.repeat(1000);
const BUCKET = 'bench';
/** Number of captures that are stored in a row. Their uploads are awaited, and their CPU counts. */
const IN_A_ROW = 20;
/** Limits for what each kind costs more than files, in milliseconds. */
const LIMITS = [
  ['s3', 'cpu', 3],
  ['s3', 'answer', 10],
  ['words', 'cpu', 8],
] as const;
const WHAT = { files: 'in files', s3: 'in an object store', words: 'with the words of its page' };
type Kind = keyof typeof WHAT;

/** Stores captures in files, the same with words, and in an object store, in turns; SQLite has their records. */
export async function storing({ rounds, print, report }: BenchOptions): Promise<readonly Finding[]> {
  const directory = await makeDirectory();
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
  const stores = await Promise.all(
    kinds.map(async (kind) => ({ kind, storage: await open(kind), costs: [] as Cost[] })),
  );
  try {
    for (let round = 0; round <= rounds; round += 1) {
      for (const { kind, storage, costs } of stores) costs.push(await storeInARow(storage, kind));
    }
  } finally {
    for (const { storage } of stores) await storage.close();
    await server?.kill();
  }
  // The first round warms up.
  const medians = new Map(
    stores.map(({ kind, costs: [, ...costs] }) => {
      return [kind, { cpu: median(costs.map(({ cpu }) => cpu)), answer: median(costs.map(({ answer }) => answer)) }];
    }),
  );
  const rows = [...medians].map(([kind, { cpu, answer }]) => [WHAT[kind], cpu.toFixed(2), answer.toFixed(2)]);
  print(formatTable(['storing a capture with an image of 300 kB', 'CPU ms', 'answer ms'], rows));
  return LIMITS.flatMap(([kind, name, limit]) => {
    const [of, files] = [medians.get(kind), medians.get('files')];
    if (of === undefined || files === undefined) return [];
    return [
      atMost(`storing ${WHAT[kind]}, more than in files: ${name}`, of[name] - files[name], limit, { unit: ' ms' }),
    ];
  });
}

/** Milliseconds for each capture: the CPU of this process, the thread of SQLite included, and the median answer. */
type Cost = Readonly<Record<'cpu' | 'answer', number>>;

async function storeInARow({ ids, captureStore }: Storage, kind: Kind): Promise<Cost> {
  const random = createRandom(ids.next());
  const captures = Array.from({ length: IN_A_ROW }, () => ({
    image: randomBytes(IMAGE_BYTES),
    words: kind === 'words' ? packedText(randomText(random)) : undefined,
  }));
  const answers: number[] = [];
  const before = process.cpuUsage();
  // As in a service, only the store holds an image that was answered: an array of them would cost garbage collections.
  for (let next = captures.pop(); next !== undefined; next = captures.pop()) {
    const { image, words } = next;
    const begun = performance.now();
    await captureStore.keep({ ...captureOf(ids.next()), words }, { image, html: HTML });
    answers.push(performance.now() - begun);
  }
  // Nothing tells that an upload has ended.
  while (captureStore.pending > 0) await delay(20);
  const { user, system } = process.cpuUsage(before);
  return { cpu: (user + system) / 1000 / IN_A_ROW, answer: median(answers) };
}
