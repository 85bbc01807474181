import { lstat, open, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { createPace, type Pace } from '../passes/pace.ts';
import { ifThere } from './directories.ts';
import { daysIn, idsIn, minutesIn } from './ids-by-time.ts';
import { captureDirectory, minuteDirectory, RECORD_FILE, timeNames } from './layout.ts';
import { KEY_BYTES, keyIn } from './record-file.ts';
import { namesIn } from './workspace.ts';

/*
 * Counts the bytes of all captures, whichever process stored them, and those of each API key. A minute's directory is
 * counted once, and again when its modification time shows that a capture was added or removed; changes by this process
 * are added at once. So a count costs one stat per minute, and is correct again after every crash.
 */

/** Number of captures whose files are checked concurrently. Few, because other work uses the same disk and threads. */
const COUNTED_TOGETHER = 4;
/** A directory that changed this shortly before it was read may change again within the same clock tick. */
const RACY_MS = 2000;
/** Maximum number of recounts of a minute that this process changed meanwhile. */
const ATTEMPTS = 3;

/** Bytes of captures. `named`: bytes of each named key; undefined when no key has a name, as in most services. */
interface Counted {
  readonly bytes: number;
  readonly named: ReadonlyMap<string, number> | undefined;
}

interface Minute {
  bytes: number;
  named: Counted['named'];
  /** Modification time of the counted directory; undefined when it must be counted again. */
  countedAt: number | undefined;
}

export function createStoredBytes(dataDir: string) {
  /** The counted minutes of each day. */
  const days = new Map<string, Map<string, Minute>>();
  let total = 0;
  /** Bytes of each key with a name, as counted. */
  const named = new Map<string, number>();
  let measured = false;

  function minuteOf(day: string, name: string): Minute {
    const minutes = days.get(day) ?? new Map<string, Minute>();
    days.set(day, minutes);
    const minute = minutes.get(name) ?? { bytes: 0, named: undefined, countedAt: undefined };
    minutes.set(name, minute);
    return minute;
  }

  function set(minute: Minute, counted: Counted): void {
    total += counted.bytes - minute.bytes;
    for (const [key, bytes] of minute.named ?? []) add(named, key, -bytes);
    for (const [key, bytes] of counted.named ?? []) add(named, key, bytes);
    minute.bytes = counted.bytes;
    minute.named = counted.named;
  }

  async function measureMinute(path: string, minute: Minute, pace: Pace): Promise<void> {
    for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
      const readAt = Date.now();
      const changedAt = (await ifThere(stat(path)))?.mtimeMs;
      if (changedAt !== undefined && changedAt === minute.countedAt) return;
      // `changed` resets it.
      minute.countedAt = changedAt ?? 0;
      const counted = changedAt === undefined ? { bytes: 0, named: undefined } : await countIn(path, pace);
      const changedMeanwhile = minute.countedAt === undefined;
      if (!changedMeanwhile || attempt === ATTEMPTS) set(minute, counted);
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

  /** Iterates over the captures of a key, in the minutes in which the last `measure` found some. */
  async function* oldestOf(key: string | null): AsyncGenerator<number> {
    for (const [day, minutes] of [...days].toSorted(byName)) {
      for (const [name, minute] of [...minutes].toSorted(byName)) {
        if (bytesOfKey(minute, key) === 0) continue;
        const path = minuteDirectory(dataDir, day, name);
        for (const id of await idsIn(path)) if ((await keyAt(join(path, `${id}`))) === key) yield id;
      }
    }
  }

  return {
    /** Bytes of the files of all captures; null before they were counted. */
    get total() {
      return measured ? total : null;
    },
    /** Counts what has changed since the last time, with pauses. Rejects with the signal's reason. */
    measure: async (signal?: AbortSignal): Promise<number> => {
      const pace = createPace(signal);
      for (const day of new Set([...days.keys(), ...(await daysIn(dataDir))])) await measureDay(day, pace, signal);
      measured = true;
      return total;
    },
    /** Notes bytes that this process has added (or removed, when negative) with this capture. */
    changed: (id: number, bytes: number) => {
      const { day, minute: name } = timeNames(id);
      const minute = minuteOf(day, name);
      set(minute, { bytes: Math.max(minute.bytes + bytes, 0), named: minute.named });
      minute.countedAt = undefined;
    },
    /** See `ArtifactStore`. */
    shares: (): ReadonlyMap<string | null, number> => new Map([[null, total - sumOf(named)], ...named]),
    oldestOf,
  };
}

function byName([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
  return a < b ? -1 : 1;
}

function bytesOfKey({ bytes, named = new Map() }: Counted, key: string | null): number {
  return key === null ? bytes - sumOf(named) : (named.get(key) ?? 0);
}

function add(sums: Map<string, number>, key: string, bytes: number): void {
  const sum = (sums.get(key) ?? 0) + bytes;
  if (sum === 0) sums.delete(key);
  else sums.set(key, sum);
}

function sumOf(bytes: ReadonlyMap<unknown, number>): number {
  return bytes.values().reduce((sum, one) => sum + one, 0);
}

/** Counts the bytes in a minute's directory. */
async function countIn(minute: string, pace: Pace): Promise<Counted> {
  const ids = await idsIn(minute);
  let bytes = 0;
  const named = new Map<string, number>();
  for (let at = 0; at < ids.length; at += COUNTED_TOGETHER) {
    const paths = ids.slice(at, at + COUNTED_TOGETHER).map((id) => join(minute, `${id}`));
    for (const [size, key] of await Promise.all(paths.map((path) => Promise.all([bytesAt(path), keyAt(path)])))) {
      bytes += size;
      if (key !== null) add(named, key, size);
    }
    await pace();
  }
  return { bytes, named: named.size === 0 ? undefined : named };
}

/** Returns the API key of a capture, stored or failed; null for a key without a name. */
async function keyAt(path: string): Promise<string | null> {
  const file = await ifThere(open(join(path, RECORD_FILE), 'r'));
  if (file === undefined) return null;
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(KEY_BYTES), 0, KEY_BYTES, 0);
    return keyIn(buffer.toString('utf8', 0, bytesRead));
  } finally {
    await file.close();
  }
}

/** Returns the bytes of a capture, stored or failed; 0 when there is none. */
export function bytesOf(dataDir: string, id: number): Promise<number> {
  return bytesAt(captureDirectory(dataDir, id));
}

/** Returns the bytes of the files in a directory. */
export async function bytesAt(path: string, names?: readonly string[]): Promise<number> {
  let bytes = 0;
  for (const name of names ?? (await namesIn(path))) bytes += (await ifThere(lstat(join(path, name))))?.size ?? 0;
  return bytes;
}
