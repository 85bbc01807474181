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

export function formatFindings(findings: readonly Finding[]): string {
  return formatTable(
    ['figure', 'measured', 'target', ''],
    findings.map(({ what, figure, target, met }) => [what, figure, target, met ? 'met' : 'MISSED']),
  );
}
