/** Formats columns as wide as their widest cell; the first is aligned left, the others right. */
export function formatTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const all = [head, ...rows];
  const widths = head.map((_, column) => Math.max(...all.map((row) => (row[column] ?? '').length)));
  const line = (row: readonly string[]) =>
    widths
      .map((width, column) => (column === 0 ? (row[column] ?? '').padEnd(width) : (row[column] ?? '').padStart(width)))
      .join('  ');
  return [line(head), widths.map((width) => '-'.repeat(width)).join('  '), ...rows.map(line)].join('\n');
}

/** A figure and its target. */
export interface Finding {
  readonly what: string;
  readonly figure: string;
  readonly target: string;
  readonly met: boolean;
}

/** The digits behind the point of a figure, and its unit. */
interface Form {
  readonly digits?: number;
  readonly unit?: string;
}

export const atLeast = (what: string, figure: number, target: number, form?: Form): Finding =>
  compared(what, figure, '>=', target, figure >= target, form);

export const atMost = (what: string, figure: number, target: number, form?: Form): Finding =>
  compared(what, figure, '<=', target, figure <= target, form);

/** A count that must be just this number. */
export const exactly = (what: string, figure: number, target: number): Finding =>
  compared(what, figure, '=', target, figure === target, { digits: 0 });

function compared(
  what: string,
  figure: number,
  sign: string,
  target: number,
  met: boolean,
  { digits = 2, unit = '' }: Form = {},
): Finding {
  return {
    what,
    figure: figure.toFixed(digits) + unit,
    target: `${sign} ${Number(target.toFixed(digits))}${unit}`,
    met,
  };
}

export function formatFindings(findings: readonly Finding[]): string {
  return formatTable(
    ['figure', 'measured', 'target', ''],
    findings.map(({ what, figure, target, met }) => [what, figure, target, met ? 'met' : 'MISSED']),
  );
}
