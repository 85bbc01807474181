import { setTimeout as delay } from 'node:timers/promises';
import { createStorage } from '../../src/storage/storage.ts';
import { keepPicture } from './parts.ts';

/*
 * A process that stores captures in an object store, and prints the id of each as soon as it is answered, until it is
 * killed. At most 8 wait for their upload. Argument: the options of its storage, as JSON.
 */

const WAITING = 8;
const storage = await createStorage(JSON.parse(process.argv[2] ?? ''));

for (;;) {
  const { id } = await keepPicture(storage.captureStore, storage.ids.next());
  process.stdout.write(`${id}\n`);
  // Nothing tells that an upload has ended.
  while (storage.captureStore.pending >= WAITING) await delay(2);
}
