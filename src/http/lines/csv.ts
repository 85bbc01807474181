/** Spreadsheets interpret a text that begins so as a formula; some skip blanks, or read full-width signs likewise. */
const FORMULA = /^(?:[\t\r]|\s*[=+\-@＝＋－＠])/;

/**
 * Returns a line of CSV (RFC 4180), with its line break. Objects are written as JSON. A text that a spreadsheet would
 * read as a formula gets an apostrophe before it: titles and URLs are untrusted.
 */
export function csvLine(values: readonly unknown[]): string {
  return `${values.map(cell).join(',')}\r\n`;
}

function cell(value: unknown): string {
  if (value === null || value === undefined) return '';
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value);
  const harmless = typeof value === 'string' && FORMULA.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}
