import { readFileSync } from 'node:fs';
import { freemem, totalmem } from 'node:os';
import { posix } from 'node:path';

/** Memory of the machine, or of the control group that this process is confined to. */
export interface Memory {
  /** Bytes that can be had without anything being swapped out or killed. */
  readonly availableBytes: number;
  readonly totalBytes: number;
}

/** The text of a file; undefined where there is none, or it cannot be read. */
export type ReadText = (path: string) => string | undefined;

const CGROUP_ROOT = '/sys/fs/cgroup';

/**
 * The tightest of the machine and of the control groups (v2) around this process, each of which may have a limit. Null
 * where the system does not tell.
 *
 * Not `process.availableMemory()`: that counts the page cache of a control group as used, and a service that writes
 * files would look full for ever. The cache is given back when memory is short, and `MemAvailable`, which
 * `os.freemem()` gives on Linux, counts it as available too.
 */
export function readMemory(read: ReadText = readText, machine: () => Memory | null = readMachine): Memory | null {
  const groups = groupsOf(read('/proc/self/cgroup') ?? '').map((group) => readGroup(group, read));
  const known = [machine(), ...groups].filter((memory) => memory !== null);
  return known.toSorted((a, b) => a.availableBytes - b.availableBytes)[0] ?? null;
}

/** The directories of the group and of those around it. In a container the outermost alone may be there. */
function groupsOf(cgroup: string): readonly string[] {
  const [, own = '/'] = /^0::(\/.*)$/m.exec(cgroup) ?? [];
  const steps = posix.normalize(own).split('/').filter(Boolean);
  return [...steps.keys(), steps.length].map((depth) => posix.join(CGROUP_ROOT, ...steps.slice(0, depth)));
}

function readGroup(group: string, read: ReadText): Memory | null {
  const limit = read(`${group}/memory.max`)?.trim();
  const current = read(`${group}/memory.current`);
  if (limit === undefined || limit === 'max' || current === undefined) return null;
  const totalBytes = Number(limit);
  const reclaimable = cachedBytes(read(`${group}/memory.stat`) ?? '');
  return { totalBytes, availableBytes: Math.max(0, totalBytes - Number(current) + reclaimable) };
}

/** Files alone: shared memory, which browsers use much of, is no cache although `file` counts it. */
function cachedBytes(stat: string): number {
  const lines = stat.matchAll(/^(?:active_file|inactive_file|slab_reclaimable) (\d+)$/gm);
  return lines.reduce((sum, [, bytes]) => sum + Number(bytes), 0);
}

/** What macOS calls free leaves out what it would give back at once, and says nothing. */
function readMachine(): Memory | null {
  return process.platform === 'darwin' ? null : { availableBytes: freemem(), totalBytes: totalmem() };
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
