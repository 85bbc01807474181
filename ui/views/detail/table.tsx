import type { ComponentChildren } from 'preact';
import type { Tone } from '../../parts/badge.tsx';

export interface TableProps {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly ComponentChildren[])[];
  readonly tones?: readonly Tone[];
  /** Number of items that were not recorded. */
  readonly omitted: number;
  /** Shown in place of an empty table. */
  readonly none: string;
}

export function Table({ columns, rows, tones = [], omitted, none }: TableProps) {
  if (rows.length === 0) return <p class="muted">{none}</p>;
  return (
    <>
      <table>
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column} scope="col">
                {column}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((cells, row) => (
            <tr key={row} class={tones[row]}>
              {cells.map((cell, column) => (
                <td key={columns[column]}>{cell}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {omitted > 0 && <p class="muted">{omitted} more were not recorded.</p>}
    </>
  );
}
