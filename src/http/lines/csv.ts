/** Spreadsheets take a text that begins with one of these for a formula. */
const FORMULA = /^[=+\-@\t\r]/;

/**
 * Returns a line of CSV (RFC 4180), with its end. Objects are written as JSON. A text that a spreadsheet would take for a
 * formula gets an apostrophe before it: titles and URLs are chosen by strangers.
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
