import { lstat, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { createPace, type Pace } from '../passes/pace.ts';
import { ifThere } from './directories.ts';
import { daysIn, idsIn, minutesIn } from './ids-by-time.ts';
import { captureDirectory, minuteDirectory, timeNames } from './layout.ts';
import { namesIn } from './workspace.ts';

/*
 * Counts the bytes of all captures, whichever process stored them. A minute's directory is counted once, and again when
 * its modification time shows that a capture was added or removed; changes by this process are added at once. So a
 * count costs one stat per minute, and is correct again after every crash.
 */

/** Number of captures whose files are checked concurrently. Few, because other work uses the same disk and threads. */
const COUNTED_TOGETHER = 4;
/** A directory that changed this shortly before it was read may change again within the same clock tick. */
const RACY_MS = 2000;
/** Maximum number of recounts of a minute that this process changed meanwhile. */
const ATTEMPTS = 3;

export interface StoredBytes {
  /** Bytes of the files of all captures; null before they were counted. */
  readonly total: number | null;
  /** Counts what has changed since the last time, with pauses. Rejects with the signal's reason. */
  measure(signal?: AbortSignal): Promise<number>;
  /** Notes bytes that this process has added (or removed, when negative) with this capture. */
  changed(id: number, bytes: number): void;
}

interface Minute {
  bytes: number;
  /** Modification time of the counted directory; undefined when it must be counted again. */
  countedAt: number | undefined;
}

export function createStoredBytes(dataDir: string): StoredBytes {
  /** The counted minutes of each day. */
  const days = new Map<string, Map<string, Minute>>();
  let total = 0;
  let measured = false;

  function minuteOf(day: string, name: string): Minute {
    const minutes = days.get(day) ?? new Map<string, Minute>();
    days.set(day, minutes);
    const minute = minutes.get(name) ?? { bytes: 0, countedAt: undefined };
    minutes.set(name, minute);
    return minute;
  }

  function set(minute: Minute, bytes: number): void {
    total += bytes - minute.bytes;
    minute.bytes = bytes;
  }

  async function measureMinute(path: string, minute: Minute, pace: Pace): Promise<void> {
    for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
      const readAt = Date.now();
      const changedAt = (await ifThere(stat(path)))?.mtimeMs;
      if (changedAt !== undefined && changedAt === minute.countedAt) return;
      // `changed` resets it.
      minute.countedAt = changedAt ?? 0;
      const bytes = changedAt === undefined ? 0 : await bytesIn(path, pace);
      const changedMeanwhile = minute.countedAt === undefined;
      if (!changedMeanwhile || attempt === ATTEMPTS) set(minute, bytes);
      if (changedMeanwhile) continue;
      if (readAt - (changedAt ?? 0) < RACY_MS) minute.countedAt = undefined;
      return;
    }
  }

  async function measureDay(day: string, pace: Pace, signal: AbortSignal | undefined): Promise<void> {
    const known = days.get(day);
    for (const name of new Set([...(known?.keys() ?? []), ...(await minutesIn(dataDir, day))])) {
      const minute = minuteOf(day, name);
      await measureMinute(minuteDirectory(dataDir, day, name), minute, pace);
      if (minute.bytes === 0) days.get(day)?.delete(name);
      await pace();
      signal?.throwIfAborted();
    }
    if (days.get(day)?.size === 0) days.delete(day);
  }

  return {
    get total() {
      return measured ? total : null;
    },
    measure: async (signal) => {
      const pace = createPace(signal);
      for (const day of new Set([...days.keys(), ...(await daysIn(dataDir))])) await measureDay(day, pace, signal);
      measured = true;
      return total;
    },
    changed: (id, bytes) => {
      const { day, minute: name } = timeNames(id);
      const minute = minuteOf(day, name);
      set(minute, Math.max(minute.bytes + bytes, 0));
      minute.countedAt = undefined;
    },
  };
}

/** Returns the bytes in a minute's directory. */
async function bytesIn(minute: string, pace: Pace): Promise<number> {
  const ids = await idsIn(minute);
  let bytes = 0;
  for (let at = 0; at < ids.length; at += COUNTED_TOGETHER) {
    const together = ids.slice(at, at + COUNTED_TOGETHER);
    for (const one of await Promise.all(together.map((id) => bytesAt(join(minute, `${id}`))))) bytes += one;
    await pace();
  }
  return bytes;
}

/** Returns the bytes of a capture, stored or failed; 0 when there is none. */
export function bytesOf(dataDir: string, id: number): Promise<number> {
  return bytesAt(captureDirectory(dataDir, id));
}

/** Returns the bytes of the files in a directory. */
export async function bytesAt(path: string): Promise<number> {
  let bytes = 0;
  for (const name of await namesIn(path)) bytes += (await ifThere(lstat(join(path, name))))?.size ?? 0;
  return bytes;
}
