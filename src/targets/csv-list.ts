import { Readable } from 'node:stream';
import { parse } from 'csv-parse';
import type { Found } from './found.ts';

/** Names of the column with the targets. */
const COLUMN = /^urls?$/i;
const MAX_RECORD_CHARACTERS = 256 * 1024;

/** Returns whether a first line is the head of a CSV table with a column `url` or `urls`. */
export function isCsvHead(line: string): boolean {
  return columnOf(line) !== undefined;
}

/** Returns the separator and the place of the column; undefined without one. */
function columnOf(line: string): { readonly delimiter: string; readonly at: number } | undefined {
  for (const delimiter of [',', ';', '\t']) {
    const names = line.split(delimiter).map((name) => name.trim().replace(/^"(.*)"$/, '$1'));
    const at = names.findIndex((name) => COLUMN.test(name));
    if (at >= 0) return { delimiter, at };
  }
  return undefined;
}

/** Finds the targets in the column of a CSV table. A cell may hold several, divided by blanks or line breaks. */
export async function* csvList(texts: AsyncIterable<string>, head: string): AsyncGenerator<Found, void, undefined> {
  const { delimiter = ',', at = 0 } = columnOf(head) ?? {};
  const source = Readable.from(texts);
  const rows = source.pipe(
    parse({
      delimiter,
      from: 2,
      info: true,
      relax_column_count: true,
      relax_quotes: true,
      skip_empty_lines: true,
      max_record_size: MAX_RECORD_CHARACTERS,
    }),
  );
  source.once('error', (error) => rows.destroy(error));
  try {
    for await (const row of rows) {
      const { record, info }: { readonly record: readonly string[]; readonly info: { readonly lines: number } } = row;
      const cell = (record[at] ?? '').trim();
      if (cell === '') yield { line: info.lines, text: '', reason: 'no_url', problem: null };
      // A text that a spreadsheet would have run is exported with an apostrophe before it.
      else for (const target of cell.split(/\s+/)) yield { line: info.lines, target: target.replace(/^'/, '') };
    }
  } finally {
    source.destroy();
    rows.destroy();
  }
}
