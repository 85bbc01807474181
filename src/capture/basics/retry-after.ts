/** Returns the time that a `Retry-After` asks to wait, in milliseconds: seconds, or a date. Null when it names none. */
export function retryAfterMs(header: string | undefined, now: number): number | null {
  if (header === undefined) return null;
  const ms = /^\d+(?:\.\d+)?$/.test(header.trim()) ? Number(header) * 1000 : Date.parse(header) - now;
  return Number.isFinite(ms) ? Math.max(0, ms) : null;
}

const MAX_SECONDS = 60;

/** Returns the value of `Retry-After` for a time in milliseconds, in seconds: at least 1, at most 60. */
export function retryAfterFor(ms: number): number {
  return Math.min(Math.max(Math.ceil(ms / 1000), 1), MAX_SECONDS);
}
