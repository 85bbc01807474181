import { packWords } from '../../src/capture/page-words.ts';
import { indexWords } from '../../src/storage/maintenance/index-words.ts';
import { createIdSource } from '../../src/storage/records/ids.ts';
import { createStorage } from '../../src/storage/storage.ts';
import { HTML, IMAGE } from '../storage/parts.ts';
import { captureOf } from '../storage/result-of.ts';

/*
 * A process that runs until it is killed. `store`: stores captures with many words, several at a time, and prints the id
 * of each as soon as it is stored. `index`: indexes the words of captures that the index lacks. Arguments: `work`,
 * `dataDir`, `mongoUrl`, `node`.
 */

const AT_ONCE = 4;
const TEXT = Array.from({ length: 1000 }, (_, at) => `word${at}`).join(' ');
const [work = '', dataDir = '', mongoUrl = '', node = '0'] = process.argv.slice(2);

async function store(): Promise<void> {
  const { captureStore } = await createStorage({ dataDir, mongoUrl });
  const ids = createIdSource({ clock: Date.now, node: Number(node) });
  const keepOn = async (): Promise<never> => {
    for (;;) {
      const id = ids.next();
      const words = packWords({ text: TEXT, places: [] });
      await captureStore.keep({ ...captureOf(id), words }, { image: IMAGE, html: HTML });
      process.stdout.write(`${id}\n`);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, keepOn));
}

if (work === 'store') await store();
else await indexWords({ dataDir, dbPath: null, mongoUrl, artifacts: 'files' }, () => {});
