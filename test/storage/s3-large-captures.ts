import { setTimeout as delay } from 'node:timers/promises';
import { createStorage } from '../../src/storage/storage.ts';
import { captureOf } from './result-of.ts';

/*
 * A process that stores captures of 20 MB in an object store, and prints the memory that stays in use, in MB, after
 * each tenth. Needs --expose-gc. Arguments: the options of its storage, as JSON; the number of captures.
 */

const BYTES = 20_000_000;
const WAITING = 4;
const [options = '', count = ''] = process.argv.slice(2);
const storage = await createStorage(JSON.parse(options));

// Nothing tells that an upload has ended.
const uploaded = async (waiting: number) => {
  while (storage.captureStore.pending > waiting) await delay(10);
};

for (let stored = 1; stored <= Number(count); stored += 1) {
  await storage.captureStore.keep(captureOf(storage.ids.next()), { image: Buffer.alloc(BYTES, stored), html: '' });
  await uploaded(WAITING);
  if (stored % 10 > 0) continue;
  await uploaded(0);
  globalThis.gc?.();
  const { heapUsed, external } = process.memoryUsage();
  console.log(Math.round((heapUsed + external) / 1e6));
}
await storage.close();
