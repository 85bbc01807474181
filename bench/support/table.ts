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

const compared =
  (sign: string, isMet: (figure: number, target: number) => boolean) =>
  (what: string, figure: number, target: number, { digits = 2, unit = '' }: Form = {}): Finding => ({
    what,
    figure: figure.toFixed(digits) + unit,
    target: `${sign} ${Number(target.toFixed(digits))}${unit}`,
    met: isMet(figure, target),
  });

export const atLeast = compared('>=', (figure, target) => figure >= target);
export const atMost = compared('<=', (figure, target) => figure <= target);

/** A count that must be just this number. */
export const exactly = (what: string, figure: number, target: number): Finding =>
  compared('=', Object.is)(what, figure, target, { digits: 0 });

export function formatFindings(findings: readonly Finding[]): string {
  return formatTable(
    ['figure', 'measured', 'target', ''],
    findings.map(({ what, figure, target, met }) => [what, figure, target, met ? 'met' : 'MISSED']),
  );
}
