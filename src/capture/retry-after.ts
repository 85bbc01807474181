/** Returns the time that a `Retry-After` asks to wait, in milliseconds: seconds, or a date. */
export function waitOf(header: string | undefined, now: number): number | undefined {
  if (header === undefined) return undefined;
  const ms = /^\d+$/.test(header.trim()) ? Number(header) * 1000 : Date.parse(header) - now;
  return Number.isFinite(ms) ? Math.max(0, ms) : undefined;
}
