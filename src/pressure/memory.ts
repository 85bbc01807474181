import { readFileSync } from 'node:fs';
import { freemem, totalmem } from 'node:os';
import { posix } from 'node:path';

/** Memory of the machine, or of the control group that this process is confined to. */
export interface Memory {
  /** Memory that can be used without swapping or ending a process, in bytes. */
  readonly availableBytes: number;
  readonly totalBytes: number;
}

/** Returns the text of a file; undefined when it is missing or cannot be read. */
type ReadText = (path: string) => string | undefined;

/** One version of control groups: its root directory and file names. */
interface Hierarchy {
  readonly root: string;
  /** Finds the group of this process in /proc/self/cgroup. */
  readonly own: RegExp;
  readonly limitFile: string;
  readonly usageFile: string;
  /** Lines of `memory.stat` that count memory which the system reclaims when memory is short. */
  readonly reclaimable: RegExp;
}

/*
 * Only the page cache of files is reclaimable. Shared memory, which browsers use heavily, is counted in the cache but
 * is not reclaimable. In version 1 only the fields with `total_` include child groups.
 */
const V1: Hierarchy = {
  root: '/sys/fs/cgroup/memory',
  own: /^\d+:(?:[^:]*,)?memory(?:,[^:]*)?:(\/.*)$/m,
  limitFile: 'memory.limit_in_bytes',
  usageFile: 'memory.usage_in_bytes',
  reclaimable: /^total_(?:active_file|inactive_file) (\d+)$/gm,
};
const V2: Hierarchy = {
  root: '/sys/fs/cgroup',
  own: /^0::(\/.*)$/m,
  limitFile: 'memory.max',
  usageFile: 'memory.current',
  reclaimable: /^(?:active_file|inactive_file|slab_reclaimable) (\d+)$/gm,
};

/**
 * Returns the smallest available memory among the machine and the control groups (v1 and v2) around this process, each
 * of which may have a limit. Null where the system does not report it.
 *
 * Not `process.availableMemory()`: it counts the page cache of a control group as used, so a service that writes files
 * would always look full. The system gives the cache back when memory is short, and `MemAvailable`, which
 * `os.freemem()` returns on Linux, counts it as available, too.
 */
export function readMemory(read: ReadText = readText, machine: () => Memory | null = readMachine): Memory | null {
  const memberships = read('/proc/self/cgroup') ?? '';
  const groups = [V1, V2].flatMap((version) =>
    groupsOf(memberships, version).map((group) => readGroup(group, version, read)),
  );
  const known = [machine(), ...groups].filter((memory) => memory !== null);
  return known.toSorted((a, b) => a.availableBytes - b.availableBytes)[0] ?? null;
}

/** Returns the directories of the group and its parents. A container may see only the outermost. */
function groupsOf(memberships: string, { root, own }: Hierarchy): readonly string[] {
  const [, path = '/'] = own.exec(memberships) ?? [];
  const steps = posix.normalize(path).split('/').filter(Boolean);
  return [...steps.keys(), steps.length].map((depth) => posix.join(root, ...steps.slice(0, depth)));
}

function readGroup(group: string, { limitFile, usageFile, reclaimable }: Hierarchy, read: ReadText): Memory | null {
  const limit = read(`${group}/${limitFile}`)?.trim();
  const usage = read(`${group}/${usageFile}`);
  if (limit === undefined || limit === 'max' || usage === undefined) return null;
  const totalBytes = Number(limit);
  const lines = (read(`${group}/memory.stat`) ?? '').matchAll(reclaimable);
  const reclaimableBytes = lines.reduce((sum, [, bytes]) => sum + Number(bytes), 0);
  return { totalBytes, availableBytes: Math.max(0, totalBytes - Number(usage) + reclaimableBytes) };
}

/** Returns null on macOS, whose free memory does not include memory that can be reclaimed at once. */
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
