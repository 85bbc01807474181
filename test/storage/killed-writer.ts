import { packWords } from '../../src/capture/result/page-words.ts';
import { createIdSource } from '../../src/storage/records/ids.ts';
import { HTML, IMAGE, openParts } from './parts.ts';
import { captureOf } from './result-of.ts';

/*
 * A process that stores captures, several at a time, and prints the id of each as soon as it is stored, until it is
 * killed. Arguments: `directory`, `node`.
 */

const AT_ONCE = 8;
/** Many, so that the process may be killed while they are indexed. */
const WORDS = Array.from({ length: 2_000 }, (_, at) => `word${at}`).join(' ');
const [directory = '', node = ''] = process.argv.slice(2);

const { captureStore } = await openParts(directory);
const ids = createIdSource({ clock: Date.now, node: Number(node) });

async function keepOn(): Promise<never> {
  for (let at = 0; ; at += 1) {
    const id = ids.next();
    if (at % 4 === 0) await captureStore.keep(captureOf(id, { failed: true, failed_code: 'capture_timeout' }), null);
    else
      await captureStore.keep(
        { ...captureOf(id), words: packWords({ text: WORDS, places: [] }) },
        { image: IMAGE, html: HTML },
      );
    process.stdout.write(`${id}\n`);
  }
}

await Promise.all(Array.from({ length: AT_ONCE }, keepOn));
