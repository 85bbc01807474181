import { deflateRawSync, inflateRawSync } from 'node:zlib';

/*
 * The words of a page: the text that it has painted, by which captures are found, and where in the image each part of
 * it is. It is stored with the record, packed. No package is loaded here: the thread of SQLite reads words, too.
 */

export const MAX_INDEXED_CHARACTERS = 64 * 1024;
/** Maximum number of places of a page. */
export const MAX_PLACES = 5_000;
/** More than any page that fits the limits. */
const MAX_UNPACKED_BYTES = 2 * 1024 * 1024;

export interface PageWords {
  readonly text: string;
  readonly places: readonly Place[];
}

/**
 * Start of a part of the text, in UTF-16 code units, and its box in pixels of the image, without an area when the image
 * does not show it. It ends where the next begins.
 */
export type Place = readonly [start: number, x: number, y: number, width: number, height: number];

export function packWords({ text, places }: PageWords): string {
  return deflateRawSync(JSON.stringify({ text, places })).toString('base64');
}

/** Returns the words of a page; none when they cannot be read. */
export function unpackWords(packed: string): PageWords {
  try {
    const json = inflateRawSync(Buffer.from(packed, 'base64'), { maxOutputLength: MAX_UNPACKED_BYTES });
    const words: unknown = JSON.parse(json.toString());
    return isPageWords(words) ? words : NO_WORDS;
  } catch {
    return NO_WORDS;
  }
}

const NO_WORDS: PageWords = { text: '', places: [] };

/** Places are those of `packWords`. */
function isPageWords(value: unknown): value is PageWords {
  return (
    typeof value === 'object' &&
    value !== null &&
    'text' in value &&
    typeof value.text === 'string' &&
    'places' in value &&
    Array.isArray(value.places)
  );
}
