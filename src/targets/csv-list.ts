import { Readable } from 'node:stream';
import { parse } from 'csv-parse';
import { parse as parseAtOnce } from 'csv-parse/sync';
import type { Found } from './found.ts';

/** Names of the column with the targets. */
const COLUMN = /^urls?$/i;
const MAX_RECORD_CHARACTERS = 256 * 1024;
/** Maximum length of the first line of a table. It is read at once: 900,000 characters took 0.6 s. */
const MAX_HEAD_CHARACTERS = 16 * 1024;
/** Number of targets that are handed on together. */
const TOGETHER = 500;

/** First line of Excel, which names the delimiter. */
const SEPARATOR = /^"?sep=([^"\r\n])"?\r?\n/i;

/** Returns whether a text begins with the head of a CSV table with a column `url` or `urls`. */
export function isCsv(start: string): boolean {
  return columnOf(start) !== undefined;
}

interface Column {
  readonly delimiter: string;
  readonly at: number;
  /** Whether the table has no other column. */
  readonly isOnly: boolean;
  /** Number of the first record with targets, from 1. */
  readonly from: number;
}

/** Returns the column with the targets; undefined without one. */
function columnOf(start: string): Column | undefined {
  const [separatorLine = '', separator] = SEPARATOR.exec(start) ?? [];
  const line = firstLine(start.slice(separatorLine.length));
  if (line.length > MAX_HEAD_CHARACTERS) return undefined;
  for (const delimiter of separator === undefined ? [',', ';', '\t'] : [separator]) {
    const names = cellsOf(line, delimiter);
    const at = names.findIndex((name) => COLUMN.test(name.trim()));
    if (at >= 0) return { delimiter, at, isOnly: names.length === 1, from: separator === undefined ? 2 : 3 };
  }
  return undefined;
}

/** Returns the first line; in a table it goes on after line breaks in quoted cells. */
function firstLine(start: string): string {
  return /^(?:(?<=^|[,;\t])"(?:[^"]|"")*"|[^\r\n])*/.exec(start)?.[0] ?? '';
}

/** Returns the cells of a line; none when it is no whole record. */
function cellsOf(line: string, delimiter: string): readonly string[] {
  try {
    const [cells]: readonly (readonly string[])[] = parseAtOnce(line, { delimiter, relax_quotes: true });
    return cells ?? [];
  } catch {
    return [];
  }
}

/**
 * Replaces CRLF, of which the parser counts two lines in a cell. Throws a `RangeError` when a line is too long: the
 * parser limits the characters of cells, not their number.
 */
async function* withLf(texts: AsyncIterable<string>): AsyncGenerator<string, void, undefined> {
  let length = 0;
  for await (const text of texts) {
    const lineBreak = text.lastIndexOf('\n');
    length = lineBreak < 0 ? length + text.length : text.length - lineBreak - 1;
    if (length > MAX_RECORD_CHARACTERS)
      throw new RangeError(`a line has more than ${MAX_RECORD_CHARACTERS} characters`);
    yield text.replaceAll('\r\n', '\n');
  }
}

/** In a table of one column, commas belong to the URL. A title after it has blanks, and a host has no comma. */
function withCommas(record: readonly string[], delimiter: string): string {
  const [first = ''] = record;
  if (!/^\s*(?:[a-z]+:\/\/[^/?#\s]+[/?#]|[^?\s]+\?)\S*$/i.test(first)) return first;
  const end = record.findIndex((cell, at) => at > 0 && /\s/.test(cell));
  const cells = end < 0 ? record : record.slice(0, end);
  return cells.slice(0, cells.findLastIndex((cell) => cell !== '') + 1).join(delimiter);
}

/** Finds the targets in the column of a CSV table. A cell may hold several, divided by blanks or line breaks. */
export async function* csvList(
  texts: AsyncIterable<string>,
  start: string,
): AsyncGenerator<readonly Found[], void, undefined> {
  const { delimiter, at, isOnly, from } = columnOf(start) ?? { delimiter: ',', at: 0, isOnly: true, from: 2 };
  const source = Readable.from(withLf(texts));
  const rows = source.pipe(
    parse({
      delimiter,
      from,
      info: true,
      relax_column_count: true,
      relax_quotes: true,
      skip_empty_lines: true,
      max_record_size: MAX_RECORD_CHARACTERS,
    }),
  );
  source.once('error', (error) => rows.destroy(error));
  let found: Found[] = [];
  try {
    for await (const row of rows) {
      const { record, info }: { readonly record: readonly string[]; readonly info: { readonly lines: number } } = row;
      const cell = (isOnly ? withCommas(record, delimiter) : (record[at] ?? '')).trim();
      if (cell === '') found.push({ line: info.lines, text: '', reason: 'no_url', problem: null });
      // A text that a spreadsheet would have run is exported with an apostrophe before it.
      else for (const target of cell.split(/\s+/)) found.push({ line: info.lines, target: target.replace(/^'/, '') });
      if (found.length < TOGETHER) continue;
      yield found;
      found = [];
    }
    yield found;
  } catch (error) {
    // Records before the damage are valid.
    yield found;
    throw error;
  } finally {
    source.destroy();
    rows.destroy();
  }
}
