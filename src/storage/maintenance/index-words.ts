import { errorText } from '../../capture/basics/error-text.ts';
import { packWords } from '../../capture/result/page-words.ts';
import type { Result } from '../../capture/result/result.ts';
import { isAway } from '../failures/store-errors.ts';
import type { ArtifactStore } from '../ports/artifact-store.ts';
import { pagesOf } from '../ports/result-store.ts';
import { earlierWords } from './earlier-words.ts';
import type { Report } from './maintenance.ts';
import { type Places, using } from './places.ts';
import { strayWords } from './stray-words.ts';

const PAGE = 250;

export interface IndexedWords {
  /** Captures whose words are in the index because of this. */
  readonly added: number;
  /** Captures whose files cannot be read; they are reported, and left out. */
  readonly unreadable: number;
}

/**
 * Indexes the words of the captures that the index does not have, newest first, and removes words without a capture. It
 * can be ended at any time, and continued by running it again.
 */
export async function indexWords(places: Places, report: Report): Promise<IndexedWords> {
  return using(places, async ({ database: { results }, artifacts }) => {
    const store = await artifacts.id();
    for (let strays = await strayWords(results); strays.length > 0; strays = await strayWords(results)) {
      await results.delete(strays);
      report(`removed the words of ${strays.length} captures without a record`);
    }
    let added = 0;
    let unreadable = 0;
    for await (const page of pagesOf(results, { by: 'all' }, PAGE)) {
      const here = page.filter(({ artifacts: stored }) => stored?.store === store);
      const known = await results.wordsOf(here.map(({ id }) => id));
      for (const result of here.filter(({ id }) => !known.has(id))) {
        const words = await wordsFrom(artifacts, result).catch((error: unknown) => {
          if (isAway(error)) throw error;
          unreadable += 1;
          report(`capture ${result.id}: ${errorText(error)}`);
        });
        if (words !== undefined && (await results.addWords(result.id, words))) added += 1;
      }
    }
    return { added, unreadable };
  });
}

/** Returns the packed words of a capture: those of its record file, or what its other files tell. */
async function wordsFrom(
  artifacts: Pick<ArtifactStore, 'record' | 'open'>,
  result: Result,
): Promise<string | undefined> {
  const record = await artifacts.record(result.id);
  if (record?.words !== undefined) return record.words;
  const words = await earlierWords(artifacts, result);
  return words === undefined ? undefined : packWords(words);
}
