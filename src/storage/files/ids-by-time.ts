import { join } from 'node:path';
import { parseId } from '../records/ids.ts';
import { capturesDirectory, minuteDirectory, timeNames } from './layout.ts';
import { namesIn } from './workspace.ts';

const DAY = /^\d{8}$/;
const MINUTE = /^\d{4}$/;

/* Reads the names of one day and one minute at a time, and only as far as the caller consumes. */

/** Ids of captures below `before`, greatest first. */
export async function* idsBefore(dataDir: string, before: number): AsyncGenerator<number> {
  const last = timeNames(before);
  for (const day of (await daysIn(dataDir)).reverse()) {
    if (day > last.day) continue;
    for (const minute of (await minutesIn(dataDir, day)).reverse()) {
      if (day === last.day && minute > last.minute) continue;
      const ids = await idsIn(minuteDirectory(dataDir, day, minute));
      yield* ids.filter((id) => id < before).reverse();
    }
  }
}

/** Ids of captures above `after`, stored and failed, oldest (smallest) first. */
export async function* idsOldestFirst(dataDir: string, after = 0): AsyncGenerator<number> {
  const first = timeNames(after);
  for (const day of await daysIn(dataDir)) {
    if (day < first.day) continue;
    for (const minute of await minutesIn(dataDir, day)) {
      if (day === first.day && minute < first.minute) continue;
      const ids = await idsIn(minuteDirectory(dataDir, day, minute));
      yield* ids.filter((id) => id > after);
    }
  }
}

/** Names of the days that have a directory, earliest first. */
export async function daysIn(dataDir: string): Promise<string[]> {
  return (await namesIn(capturesDirectory(dataDir))).filter((name) => DAY.test(name)).sort();
}

/** Names of the minutes of a day that have a directory. */
export async function minutesIn(dataDir: string, day: string): Promise<string[]> {
  return (await namesIn(join(capturesDirectory(dataDir), day))).filter((name) => MINUTE.test(name)).sort();
}

/** Ids of the captures in a minute's directory, smallest first. */
export async function idsIn(minute: string): Promise<number[]> {
  const ids = (await namesIn(minute)).map(parseId).filter((id) => id !== undefined);
  return ids.sort((a, b) => a - b);
}
