import { join } from 'node:path';
import type { ScreenshotInfo } from '../../capture/artifacts/screenshot-info.ts';
import { nullIfDamaged } from '../failures/store-errors.ts';
import { parseId } from '../records/ids.ts';
import { capturesDirectory, minuteDirectory, timeNames } from './layout.ts';
import { namesIn } from './workspace.ts';

/** Number of captures that a list describes at once. */
const READ_TOGETHER = 16;
const DAY = /^\d{8}$/;
const MINUTE = /^\d{4}$/;

/* Reads the names of one day and one minute at a time, and only as far as the caller consumes. */

/** Captures by the day and minute of their ids, in ascending order. */
interface ByTime {
  days(): Promise<readonly string[]>;
  minutes(day: string): Promise<readonly string[]>;
  ids(day: string, minute: string): Promise<readonly number[]>;
}

export function byTimeIn(dataDir: string): ByTime {
  return {
    days: () => daysIn(dataDir),
    minutes: (day) => minutesIn(dataDir, day),
    ids: (day, minute) => idsIn(minuteDirectory(dataDir, day, minute)),
  };
}

/** Describes captures in the order of their ids, at most `limit`. Leaves out those whose record is damaged. */
export async function describeNewest(
  ids: AsyncIterable<number>,
  describe: (id: number) => Promise<ScreenshotInfo | undefined>,
  limit: number,
): Promise<readonly ScreenshotInfo[]> {
  const infos: ScreenshotInfo[] = [];
  let waiting: number[] = [];
  const read = async () => {
    const described = await Promise.all(waiting.map((id) => describe(id).catch(nullIfDamaged)));
    for (const one of described) if (one != null && infos.length < limit) infos.push(one);
    waiting = [];
  };
  for await (const id of ids) {
    waiting.push(id);
    if (waiting.length >= Math.min(READ_TOGETHER, limit - infos.length)) await read();
    if (infos.length >= limit) break;
  }
  await read();
  return infos;
}

/** Iterates over ids below one, newest (greatest) first. */
export async function* idsBefore({ days, minutes, ids }: ByTime, before: number): AsyncGenerator<number> {
  const last = timeNames(before);
  for (const day of (await days()).toReversed()) {
    if (day > last.day) continue;
    for (const minute of (await minutes(day)).toReversed()) {
      if (day === last.day && minute > last.minute) continue;
      yield* (await ids(day, minute)).filter((id) => id < before).toReversed();
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
