import { setImmediate as nextTurn } from 'node:timers/promises';
import { CapstanError } from '../capture/errors.ts';
import type { LeftOut, ListForm, ListReport } from '../capture/scan.ts';
import { bytesText, STORED_LIMITS } from '../capture/stored-limits.ts';
import { csvList, isCsvHead } from './csv-list.ts';
import { decodedText } from './decoded-text.ts';
import { countTargets, type Entry, type Expansion, readEntry, targetsOf } from './entry.ts';
import type { Found } from './found.ts';
import { masscanList } from './masscan-list.ts';
import { nmapList } from './nmap-list.ts';
import { plainList } from './plain-list.ts';
import { SeenTargets } from './seen-targets.ts';
import { sitemapList } from './sitemap-list.ts';

/** An entry of a list: `text` gives the same entry when it is read again as a line. */
export interface ListEntry {
  readonly text: string;
  readonly entry: Entry;
  /** Number of its targets that the list did not have before, at least 1. */
  readonly size: number;
  /** Number of all its targets. */
  readonly named: number;
}

/** Number of items that are read in one turn of the event loop. */
const READ_A_TURN = 500;
/** Maximum number of problems that a report names. */
const MAX_PROBLEMS = 100;
const MAX_SHOWN_CHARACTERS = 200;
/** Beginning of a list in which its form shows. */
const HEAD_CHARACTERS = 64 * 1024;

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

/** Generates the entries of a list in any form as it is read, and returns what it gave. */
export async function* readList(
  bytes: AsyncIterable<Uint8Array>,
  options: ListOptions,
): AsyncGenerator<ListEntry, ListReport, undefined> {
  const { expansion, maxTargets, maxCharacters = MAX_CHARACTERS, openSitemap, signal } = options;
  const leftOut: Partial<Record<LeftOut, number>> = {};
  const problems: ListReport['problems'][number][] = [];
  let targets = 0;
  let sitemaps = 0;
  let items = 0;
  let characters = 0;
  const seen = new SeenTargets();
  const turn = async (): Promise<void> => {
    items += 1;
    if (items % READ_A_TURN !== 0) return;
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

  async function* entriesOf(found: AsyncIterable<Found>, depth: number): AsyncGenerator<ListEntry, void, undefined> {
    for await (const each of found) {
      await turn();
      if (!('target' in each)) {
        leave(each.reason, each.line, each.text, each.problem);
        continue;
      }
      const { line, target: text } = each;
      const entry = readEntry(text);
      if ('problem' in entry) {
        leave('invalid', line, text, entry.problem);
        continue;
      }
      if (entry.kind === 'sitemap' && openSitemap !== undefined) {
        sitemaps += 1;
        if (sitemaps > MAX_SITEMAPS)
          leave('unread_sitemap', line, entry.url, `is one of more than ${MAX_SITEMAPS} sitemaps`);
        else if (depth >= MAX_SITEMAP_DEPTH)
          leave('unread_sitemap', line, entry.url, 'is named by a chain of sitemaps');
        else yield* pagesOf(openSitemap(entry.url), entry.url, line, depth + 1);
        continue;
      }
      const named = countTargets(entry, expansion);
      if (named > BigInt(maxTargets)) {
        const most = maxTargets.toLocaleString('en');
        leave('too_large', line, text, `has ${named.toLocaleString('en')} targets: at most ${most} are accepted`);
        continue;
      }
      let size = 0;
      for (const target of targetsOf(entry, expansion)) {
        await turn();
        if (seen.add(target)) size += 1;
        else leave('duplicate', line, text, null);
      }
      targets += size;
      if (size > 0 || entry.kind === 'sitemap') yield { text, entry, size, named: Number(named) };
    }
  }

  /** `line`: where the list names the sitemap. */
  async function* pagesOf(
    sitemap: AsyncIterable<Uint8Array>,
    url: string,
    line: number,
    depth: number,
  ): AsyncGenerator<ListEntry, void, undefined> {
    try {
      yield* entriesOf(sitemapList(counted(decodedText(sitemap))), depth);
    } catch (error) {
      if (signal?.aborted || characters > maxCharacters || (!isDamage(error) && !(error instanceof CapstanError)))
        throw error;
      leave('unread_sitemap', line, url, `cannot be read: ${error.message}`);
    }
  }

  const { head, texts } = await headOf(counted(decodedText(bytes)));
  const form = formOf(head);
  try {
    yield* entriesOf(finderOf(form, head, texts), 0);
  } catch (error) {
    if (!isDamage(error)) throw error;
    leave('unfinished', 0, '', `cannot be read to its end: ${error.message}`);
  }
  return { form, targets, left_out: leftOut, problems };
}

function tooLong(characters: number): CapstanError {
  const most = bytesText(characters);
  return new CapstanError(
    'payload_too_large',
    `The list, with its sitemaps, has more than ${most} of text: divide it.`,
  );
}

function finderOf(form: ListForm, head: string, texts: AsyncIterable<string>): AsyncIterable<Found> {
  switch (form) {
    case 'lines':
      return plainList(texts);
    case 'nmap':
      return nmapList(texts);
    case 'masscan':
      return masscanList(texts);
    case 'sitemap':
      return sitemapList(texts);
    case 'csv':
      return csvList(texts, firstLine(head));
  }
}

/** Returns the form of a list that begins with `head`. */
function formOf(head: string): ListForm {
  if (/^\s*</.test(head)) return /<(?:\w+:)?(?:urlset|sitemapindex)\b/.test(head) ? 'sitemap' : 'nmap';
  // A line may begin with the bracket of an IPv6 address.
  if (/^\s*(?:\[\s*(?:[{\],]|$)|\{)/.test(head)) return 'masscan';
  return isCsvHead(firstLine(head)) ? 'csv' : 'lines';
}

function firstLine(head: string): string {
  return /^[^\r\n]*/.exec(head)?.[0] ?? '';
}

async function headOf(texts: AsyncGenerator<string, void, undefined>) {
  let head = '';
  let hasEnded = false;
  while (head.length < HEAD_CHARACTERS) {
    const step = await texts.next();
    hasEnded = step.done === true;
    if (step.done === true) break;
    head += step.value;
  }
  async function* all(): AsyncGenerator<string, void, undefined> {
    if (head !== '') yield head;
    if (!hasEnded) yield* texts;
  }
  return { head, texts: all() };
}

/** Whether a list could not be read because of what it contains: damaged gzip, or a CSV record without an end. */
function isDamage(error: unknown): error is Error {
  if (error instanceof RangeError) return true;
  return error instanceof Error && 'code' in error && /^(?:Z_|CSV_|ERR_ZLIB)/.test(String(error.code));
}

function shortened(text: string): string {
  return text.length > MAX_SHOWN_CHARACTERS ? `${text.slice(0, MAX_SHOWN_CHARACTERS)}…` : text;
}
