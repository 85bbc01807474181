import { inParts, type TextBeginning } from '../running/in-parts.ts';

/** Returns true, as soon as the page can answer. */
export function answers(): true {
  return true;
}

/** Resolves with whether a value is truthy. A function is called, a promise awaited; an exception counts as false. */
export async function isTruthy(evaluated: () => unknown): Promise<boolean> {
  try {
    const value = evaluated();
    return Boolean(await (typeof value === 'function' ? value() : value));
  } catch {
    return false;
  }
}

/** Returns the beginning of the JSON of a value. */
export async function valueInParts(value: unknown): Promise<TextBeginning> {
  return inParts(JSON.stringify((await value) ?? null));
}
