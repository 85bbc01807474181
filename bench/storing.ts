import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { createStorage, type Storage } from '../src/storage/storage.ts';
import { captureOf } from '../test/storage/result-of.ts';
import { clientOf, s3Options, startS3 } from '../test/support/s3.ts';
import { makeDirectory } from '../test/support/temporary-directory.ts';
import type { BenchOptions } from './support/bench.ts';
import { percentile } from './support/statistics.ts';
import { type Finding, formatTable } from './support/table.ts';

const IMAGES = Array.from({ length: 20 }, () => randomBytes(300_000));
const HTML = '<p>Grüße und mehr</p>'.repeat(1000);
const MAX_CPU_MS = 3;
const MAX_ANSWER_MS = 10;

/** The costs of storing a capture in one store, in milliseconds. */
interface Costs {
  readonly storage: Storage;
  /** CPU time of the process for each capture, uploads included, those of the object store not. */
  readonly cpu: number[];
  /** Time until each capture is stored, while others are uploaded. */
  readonly busy: number[];
  /** The same while nothing else happens. */
  readonly idle: number[];
}

/** Stores captures of 300 kB in an object store and in files, in turns, with records in SQLite. */
export async function storing({ rounds, print }: BenchOptions): Promise<readonly Finding[]> {
  const server = await startS3(['--conditional-put']);
  (await clientOf(server, 'storing')).close();
  const files = await open();
  const s3 = await open(s3Options(server, 'storing'));
  try {
    for (let round = 0; round < rounds; round += 1) for (const costs of [files, s3]) await storeAll(costs);
  } finally {
    for (const { storage } of [files, s3]) await storage.close();
    await server.kill();
  }
  const added = (of: 'cpu' | 'busy' | 'idle') => percentile(s3[of], 0.5) - percentile(files[of], 0.5);
  const row = (name: string, costs: Costs) => [
    name,
    ...(['cpu', 'busy', 'idle'] as const).map((of) => percentile(costs[of], 0.5).toFixed(1)),
  ];
  const head = ['a capture of 300 kB, medians in ms', 'CPU', 'answer, others uploaded', 'answer alone'];
  print(formatTable(head, [row('files', files), row('object store', s3)]));
  return [
    finding('CPU', added('cpu'), MAX_CPU_MS),
    finding('answer, others uploaded', added('busy'), MAX_ANSWER_MS),
    finding('answer alone', added('idle'), MAX_ANSWER_MS),
  ];
}

function finding(what: string, ms: number, most: number): Finding {
  const of = `a capture of 300 kB in an object store, beside files: ${what}`;
  return { what: of, figure: `${ms.toFixed(1)} ms more`, target: `${most} ms`, met: ms <= most };
}

async function open(options: Partial<Parameters<typeof createStorage>[0]> = {}): Promise<Costs> {
  const path = await makeDirectory();
  const storage = await createStorage({ dataDir: join(path, 'data'), dbPath: join(path, 'results.db'), ...options });
  const costs = { storage, cpu: [], busy: [], idle: [] };
  for (const image of IMAGES) await keep(storage, image);
  await uploaded(storage);
  return costs;
}

async function storeAll({ storage, cpu, busy, idle }: Costs): Promise<void> {
  const before = process.cpuUsage();
  for (const image of IMAGES) busy.push(await keep(storage, image));
  await uploaded(storage);
  const { user, system } = process.cpuUsage(before);
  cpu.push((user + system) / 1000 / IMAGES.length);
  for (const image of IMAGES.slice(0, 5)) {
    idle.push(await keep(storage, image));
    await uploaded(storage);
  }
}

async function keep({ captureStore, ids }: Storage, image: Uint8Array): Promise<number> {
  const began = performance.now();
  await captureStore.keep(captureOf(ids.next()), { image, html: HTML });
  return performance.now() - began;
}

/** Nothing tells that an upload has ended. */
async function uploaded({ captureStore }: Storage): Promise<void> {
  while (captureStore.pending > 0) await delay(25);
}
