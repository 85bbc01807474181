/** Text of a page, at most so many characters of it, and none that is half of one. */
export function bounded(text: string, maxCharacters: number): string {
  return text.slice(0, maxCharacters).toWellFormed();
}

/** Seconds since the Unix epoch as ISO 8601, UTC, whatever the number: what lies outside of the calendar is at its end. */
export function instant(seconds: number): string {
  const ms = Math.trunc(seconds * 1000);
  return new Date(Math.min(Math.max(Number.isNaN(ms) ? 0 : ms, FIRST_MS), LAST_MS)).toISOString();
}

const FIRST_MS = Date.parse('0000-01-01T00:00:00.000Z');
const LAST_MS = Date.parse('9999-12-31T23:59:59.999Z');
