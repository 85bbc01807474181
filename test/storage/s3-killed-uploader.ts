import { createStorage } from '../../src/storage/storage.ts';
import { keepPicture } from './parts.ts';

/*
 * A process that stores captures in an object store, several at a time, and prints the id of each as soon as it is
 * answered, until it is killed. Argument: the options of its storage, as JSON.
 */

const AT_ONCE = 4;
const storage = await createStorage(JSON.parse(process.argv[2] ?? ''));

async function keepOn(): Promise<never> {
  for (;;) {
    const { id } = await keepPicture(storage.captureStore, storage.ids.next());
    process.stdout.write(`${id}\n`);
  }
}

await Promise.all(Array.from({ length: AT_ONCE }, keepOn));
