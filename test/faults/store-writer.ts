import { packWords } from '../../src/capture/result/page-words.ts';
import { indexWords } from '../../src/storage/maintenance/index-words.ts';
import { createIdSource } from '../../src/storage/records/ids.ts';
import { createStorage } from '../../src/storage/storage.ts';
import { IMAGE } from '../storage/parts.ts';
import { captureOf } from '../storage/result-of.ts';

/*
 * A process that runs until it is killed, and prints a line for each step that is done. Arguments: the work, the places
 * as JSON, and a number of its own.
 *
 * - `store`: stores captures with many words, several at a time, and prints the id of each.
 * - `store-without-words`: the same, with the words in the files alone.
 * - `index`: indexes the words of captures that the index lacks.
 * - `mark`: changes the marks of captures again and again, several at a time, and prints id and label.
 */

const AT_ONCE = 4;
const TEXT = Array.from({ length: 1000 }, (_, at) => `word${at}`).join(' ');
const [work = '', places = '', number = '0'] = process.argv.slice(2);
const { dataDir, dbPath, mongoUrl } = JSON.parse(places);

async function store(hasWords: boolean): Promise<void> {
  const { captureStore } = await createStorage({ dataDir, dbPath, mongoUrl });
  const ids = createIdSource({ clock: Date.now, node: Number(number) });
  const words = packWords({ text: TEXT, places: [] });
  await together(async () => {
    const id = ids.next();
    await captureStore.keep(hasWords ? { ...captureOf(id), words } : captureOf(id), {
      image: IMAGE,
      html: `<p>${TEXT}</p>`,
    });
    process.stdout.write(`${id}\n`);
  });
}

async function mark(): Promise<void> {
  const { captureStore, results } = await createStorage({ dataDir, dbPath, mongoUrl });
  const ids = (await results.page({ by: 'all' }, AT_ONCE)).map(({ id }) => id);
  let last = 0;
  await together(async () => {
    last += 1;
    const note = `${number}-${last}`;
    const [id = 0] = ids.slice(last % ids.length);
    const hold = { at: '2026-01-02T03:04:05.678Z', by: 'root' };
    await captureStore.mark(id, ({ labels }) => ({ labels: [...labels, note], note, hold }));
    process.stdout.write(`${id} ${note}\n`);
  });
}

async function together(step: () => Promise<void>): Promise<void> {
  const keepOn = async (): Promise<never> => {
    for (;;) await step();
  };
  await Promise.all(Array.from({ length: AT_ONCE }, keepOn));
}

if (work === 'index') await indexWords({ dataDir, dbPath, mongoUrl, artifacts: 'files' }, () => {});
else if (work === 'mark') await mark();
else await store(work === 'store');
