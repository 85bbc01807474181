import { z } from 'zod';

export const SECOND_MS = 1000;
export const UNITS_MS = { s: SECOND_MS, m: 60 * SECOND_MS, h: 3600 * SECOND_MS, d: 86_400 * SECOND_MS } as const;

const DURATION = /^(\d{1,9})(s|m|h|d)$/;

/** A text such as `10m`, in milliseconds. */
export function duration(minMs: number, maxMs: number, range: string) {
  return z.string({ error: `must be a duration such as "10m": ${range}` }).transform((text, context) => {
    const ms = millisecondsOf(text);
    if (ms !== undefined && ms >= minMs && ms <= maxMs) return ms;
    context.addIssue({
      code: 'custom',
      message: `must be a number and one of s, m, h or d, such as "10m", ${range}, not ${JSON.stringify(text)}`,
    });
    return z.NEVER;
  });
}

/** Returns the milliseconds of a text such as `10m`; undefined for any other. */
export function millisecondsOf(text: string): number | undefined {
  const [, number, unit = ''] = DURATION.exec(text) ?? [];
  return number === undefined || !isUnit(unit) ? undefined : Number(number) * UNITS_MS[unit];
}

function isUnit(text: string): text is keyof typeof UNITS_MS {
  return Object.hasOwn(UNITS_MS, text);
}

export function isTimeZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }) !== undefined;
  } catch {
    return false;
  }
}
