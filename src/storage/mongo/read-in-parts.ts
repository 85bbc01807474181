import type { Result } from '../../capture/result/result.ts';
import { type Keyset, keysetOf, MAX_READ_CHARACTERS } from '../ports/result-store.ts';

/** Records that are read while their size is not known, and the most that are read then. */
const FIRST_PART = 25;
const MAX_PART = 500;

/**
 * Reads a page in parts, because the driver would read all records of a large page before any is counted. Ends it when
 * it has `MAX_READ_CHARACTERS`.
 */
export async function readInParts(
  limit: number,
  from: Keyset | undefined,
  read: (limit: number, after: Keyset | undefined) => Promise<readonly Result[]>,
): Promise<readonly Result[]> {
  const found: Result[] = [];
  let characters = 0;
  let after = from;
  for (let part = FIRST_PART; ; part = Math.ceil((MAX_READ_CHARACTERS - characters) / (characters / found.length))) {
    const wanted = Math.min(limit - found.length, part, MAX_PART);
    const records = await read(wanted, after);
    for (const record of records) {
      found.push(record);
      characters += JSON.stringify(record).length;
      if (characters >= MAX_READ_CHARACTERS) return found;
    }
    const last = records.at(-1);
    if (last === undefined || records.length < wanted || found.length === limit) return found;
    after = keysetOf(last);
  }
}
