/**
 * Cuts a text from a page to a number of characters, without splitting a surrogate pair. Copies what is left of a text
 * that is cut, because a slice would keep the whole text in memory.
 */
export function bounded(text: string, maxCharacters: number): string {
  if (text.length <= maxCharacters) return text.toWellFormed();
  return Buffer.from(text.slice(0, maxCharacters)).toString();
}

/**
 * Formats seconds since the Unix epoch as ISO 8601 in UTC; values outside the calendar become its first or last moment.
 */
export function instant(seconds: number): string {
  const ms = Math.trunc(seconds * 1000);
  return new Date(Math.min(Math.max(Number.isNaN(ms) ? 0 : ms, FIRST_MS), LAST_MS)).toISOString();
}

const FIRST_MS = Date.parse('0000-01-01T00:00:00.000Z');
const LAST_MS = Date.parse('9999-12-31T23:59:59.999Z');
