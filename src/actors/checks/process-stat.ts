import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';

/** Fields of `/proc/<pid>/stat`. */
export interface ProcessStat {
  /** Process group. */
  readonly group: number;
  /** CPU time in its own code, in clock ticks: hundredths of a second (`getconf CLK_TCK`). */
  readonly user: number;
  /** CPU time in the kernel, in clock ticks. */
  readonly system: number;
  /** Start time, in clock ticks since boot. */
  readonly start: string;
}

/** Reads `/proc/<pid>/stat`. Resolves with undefined when there is no such process, or no `/proc`. */
export async function processStat(pid: number): Promise<ProcessStat | undefined> {
  const stat = await readFile(`/proc/${pid}/stat`, 'latin1').catch(() => undefined);
  if (stat === undefined) return undefined;
  // The format is `pid (name) state parent group ...`, and the name may contain anything. These are fields 5, 14, 15
  // and 22 of proc(5).
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [group, user, system] = [2, 11, 12].map((at) => Number(fields[at]));
  return { group: group ?? Number.NaN, user: user ?? 0, system: system ?? 0, start: fields[19] ?? '0' };
}

/**
 * Returns the time for which the main thread of a process has been ready to run without a core, since its start, in
 * milliseconds; 0 when there is no such process, or where the system does not report it.
 */
export function waitedForCore(pid: number): number {
  try {
    // The second field is in nanoseconds (Linux: Documentation/scheduler/sched-stats.rst).
    return Number(readFileSync(`/proc/${pid}/schedstat`, 'latin1').split(' ')[1] ?? 0) / 1e6;
  } catch {
    return 0;
  }
}
