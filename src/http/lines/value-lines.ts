import type { WatchRun } from '../../capture/work/watch.ts';
import type { ReadValue } from '../../capture/work/watch-values.ts';
import { csvLine } from './csv.ts';

/** Returns the values of runs as lines of CSV. A value that was money in any of them has columns for its parts. */
export function valueLines(names: readonly string[], runs: readonly WatchRun[]): readonly string[] {
  const isMoney = (name: string) => runs.some(({ values }) => moneyOf(values?.[name]) !== undefined);
  const columns = names.flatMap((name): readonly Column[] =>
    isMoney(name) ? moneyColumns(name) : [[name, (read) => plain(read)]],
  );
  const ofName = columns.map(([column]) => column);
  const lines = runs.map(({ at, state, capture, values }) => {
    const cells = columns.map(([column, cell, name = column]) => cell(values?.[name]));
    return csvLine([at, state, capture, ...cells]);
  });
  return [csvLine(['at', 'state', 'capture', ...ofName]), ...lines];
}

/** The name of a column, how its cells are made, and the name of the value, unless it is that of the column. */
type Column = readonly [column: string, cell: (read: ReadValue | undefined) => unknown, name?: string];

function moneyColumns(name: string): readonly Column[] {
  return [
    [name, (read) => moneyOf(read)?.amount],
    [`${name}_to`, (read) => moneyOf(read)?.to, name],
    [`${name}_currency`, (read) => moneyOf(read)?.currency, name],
    [`${name}_text`, (read) => read?.text, name],
  ];
}

function moneyOf(read: ReadValue | undefined) {
  return typeof read?.value === 'object' ? (read.value ?? undefined) : undefined;
}

const plain = (read: ReadValue | undefined): unknown => read?.value ?? read?.text;
