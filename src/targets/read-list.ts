import { setImmediate as nextTurn } from 'node:timers/promises';
import { codeOf } from '../capture/basics/error-code.ts';
import { CapstanError } from '../capture/errors.ts';
import { bytesText, STORED_LIMITS } from '../capture/stored-limits.ts';
import type { LeftOut, ListReport } from '../capture/work/scan.ts';
import { decodedText } from './decoded-text.ts';
import { countTargets, type Entry, type Expansion, readEntry, targetsOf } from './entry.ts';
import type { Found } from './found.ts';
import { findTargets } from './list-form.ts';
import { SeenTargets } from './seen-targets.ts';
import { sitemapList } from './sitemap-list.ts';

/** An entry of a list: `text` gives the same entry when it is read again as a line. */
interface ListEntry {
  readonly text: string;
  readonly entry: Entry;
  /** Number of its targets that the list did not have before, at least 1. */
  readonly size: number;
}

/** Number of items that are read in one turn of the event loop. */
const READ_A_TURN = 500;
/** Number of targets of the entries that are given together, at most one network more. */
const TOGETHER = 5_000;
/** A list may name this many times the targets that it may have: reading repeated ones takes time. */
const MAX_NAMED_RATIO = 4;
/** Maximum number of problems that a report names. */
const MAX_PROBLEMS = 100;
const MAX_SHOWN_CHARACTERS = 200;

export interface ListOptions {
  readonly expansion: Expansion;
  /** An entry with more targets is left out, before it is expanded. */
  readonly maxTargets: number;
  /** Maximum number of characters of the list and its sitemaps. @default that of `STORED_LIMITS.scanText` */
  readonly maxCharacters?: number;
  /** Ends the reading. */
  readonly signal?: AbortSignal | undefined;
  /** Opens a sitemap that a list names. Without it, such an entry is given as it is. */
  readonly openSitemap?: ((url: string) => AsyncIterable<Uint8Array>) | undefined;
}

/** Maximum number of sitemaps that a list names, also in its sitemaps (an index may have 50,000), and of characters. */
const { count: MAX_SITEMAPS, bytes: MAX_CHARACTERS } = STORED_LIMITS.scanText;
/** Maximum number of sitemaps that lead to each other. An index may only name sitemaps, and no index. */
const MAX_SITEMAP_DEPTH = 3;

/**
 * Generates the entries of a list in any form, some at a time as it is read, and returns what it gave. Throws a
 * `CapstanError` when it is too long, or names too many targets.
 */
export async function* readList(
  bytes: AsyncIterable<Uint8Array>,
  options: ListOptions,
): AsyncGenerator<readonly ListEntry[], ListReport, undefined> {
  const { expansion, maxTargets, maxCharacters = MAX_CHARACTERS, openSitemap, signal } = options;
  const mostOfEntry = BigInt(maxTargets);
  const maxNamed = MAX_NAMED_RATIO * maxTargets;
  const leftOut: Partial<Record<LeftOut, number>> = {};
  const problems: ListReport['problems'][number][] = [];
  let targets = 0;
  let named = 0;
  let sitemaps = 0;
  let items = 0;
  let characters = 0;
  const seen = new SeenTargets();
  /** Counts an item. Returns whether the event loop should have its turn. */
  const isTurnOver = (): boolean => {
    items += 1;
    return items % READ_A_TURN === 0;
  };
  const turn = async (): Promise<void> => {
    await nextTurn();
    signal?.throwIfAborted();
  };
  const leave = (reason: LeftOut, line: number, text: string, problem: string | null): void => {
    leftOut[reason] = (leftOut[reason] ?? 0) + 1;
    if (problem !== null && problems.length < MAX_PROBLEMS) problems.push({ line, text: shortened(text), problem });
  };

  /** Counts the texts of the list and its sitemaps. */
  async function* counted(texts: AsyncIterable<string>): AsyncGenerator<string, void, undefined> {
    for await (const text of texts) {
      signal?.throwIfAborted();
      characters += text.length;
      if (characters > maxCharacters) throw tooLong(maxCharacters);
      yield text;
    }
  }

  /** Returns the entry in a line; undefined when it is left out. */
  const read = (line: number, text: string): Entry | undefined => {
    const entry = readEntry(text);
    if ('problem' in entry) {
      leave('invalid', line, text, entry.problem);
      return undefined;
    }
    const count = countTargets(entry, expansion);
    if (count > mostOfEntry) {
      const max = maxTargets.toLocaleString('en');
      const problem = `has ${count.toLocaleString('en')} targets: at most ${max} are accepted`;
      leave('too_large', line, text, problem);
      return undefined;
    }
    named += Number(count);
    if (named > maxNamed) throw namesTooMany(maxNamed);
    return entry;
  };

  async function* entriesOf(
    found: AsyncIterable<readonly Found[]>,
    depth: number,
  ): AsyncGenerator<readonly ListEntry[], void, undefined> {
    for await (const some of found) {
      let entries: ListEntry[] = [];
      let together = 0;
      for (const each of some) {
        if (isTurnOver()) await turn();
        if (!('target' in each)) {
          leave(each.reason, each.line, each.text, each.problem);
          continue;
        }
        const { line, target: text } = each;
        const entry = read(line, text);
        if (entry === undefined) continue;
        if (entry.kind === 'sitemap' && openSitemap !== undefined) {
          yield entries;
          entries = [];
          yield* pagesOf(openSitemap, entry.url, line, depth + 1);
          continue;
        }
        let size = 0;
        for (const target of targetsOf(entry, expansion)) {
          if (isTurnOver()) await turn();
          if (seen.add(target)) size += 1;
          else leave('duplicate', line, text, null);
        }
        targets += size;
        if (size > 0 || entry.kind === 'sitemap') entries.push({ text, entry, size });
        together += size;
        if (together < TOGETHER) continue;
        yield entries;
        entries = [];
        together = 0;
      }
      yield entries;
    }
  }

  /** `line`: where the list names the sitemap. */
  async function* pagesOf(
    open: (url: string) => AsyncIterable<Uint8Array>,
    url: string,
    line: number,
    depth: number,
  ): AsyncGenerator<readonly ListEntry[], void, undefined> {
    sitemaps += 1;
    if (sitemaps > MAX_SITEMAPS) {
      leave('unread_sitemap', line, url, `is one of more than ${MAX_SITEMAPS} sitemaps`);
      return;
    }
    if (depth > MAX_SITEMAP_DEPTH) {
      leave('unread_sitemap', line, url, 'is named by a chain of sitemaps');
      return;
    }
    try {
      yield* entriesOf(sitemapList(counted(decodedText(open(url)))), depth);
    } catch (error) {
      const isEnd = signal?.aborted || characters > maxCharacters || named > maxNamed;
      if (isEnd || (!isDamage(error) && !(error instanceof CapstanError))) throw error;
      leave('unread_sitemap', line, url, `cannot be read: ${error.message}`);
    }
  }

  const { form, found } = await findTargets(counted(decodedText(bytes)));
  try {
    yield* entriesOf(found, 0);
  } catch (error) {
    if (!isDamage(error)) throw error;
    leave('unfinished', 0, '', `cannot be read to its end: ${error.message}`);
  }
  return { form, targets, left_out: leftOut, problems };
}

function namesTooMany(targets: number): CapstanError {
  return new CapstanError(
    'invalid_request',
    `The list names more than ${targets.toLocaleString('en')} targets, repeated ones included: divide it.`,
  );
}

function tooLong(characters: number): CapstanError {
  const max = bytesText(characters);
  return new CapstanError('payload_too_large', `The list, with its sitemaps, has more than ${max} of text: divide it.`);
}

/** Whether a list could not be read because of what it contains: damaged gzip, or a CSV record without an end. */
function isDamage(error: unknown): error is Error {
  return error instanceof RangeError || /^(?:Z_|CSV_|ERR_ZLIB)/.test(codeOf(error) ?? '');
}

function shortened(text: string): string {
  return text.length > MAX_SHOWN_CHARACTERS ? `${text.slice(0, MAX_SHOWN_CHARACTERS)}…` : text;
}
