import { readFile } from 'node:fs/promises';
import { setInterval } from 'node:timers/promises';
import { type FamilyMember, familyOf } from '../../test/support/process-family.ts';

/** Linux counts CPU time in these ticks (`getconf CLK_TCK`; 100 on every platform that Node runs on). */
const TICKS_PER_SECOND = 100;
/**
 * Interval between memory samples. Summing up a browser's memory takes the kernel about 30 ms, so sampling more often
 * would distort the measurement.
 */
const SAMPLE_EVERY_MS = 700;

interface Member extends FamilyMember {
  /** CPU time of the process, including children it waited for. */
  readonly cpuTicks: number;
}

export interface Watched<T> {
  readonly value: T;
  /** CPU seconds of the tree, including processes that started and ended meanwhile. */
  readonly cpuSeconds: number;
  /** Peak memory, in MiB; shared pages are counted once (PSS). */
  readonly peakMiB: number;
}

/**
 * Measures a process and its descendants while `work` runs. When a child ends, the kernel adds its time to the parent
 * that waits for it; the parent of renderers is their browser's zygote. A zygote outlives its browser and leaves the
 * tree, so the last known time of such orphans is added.
 */
export async function watchTree<T>(root: number, work: () => Promise<T>): Promise<Watched<T>> {
  let seen = await familyOf(root, readMember);
  const ticksBefore = ticksOf(seen);
  let orphanedTicks = 0;
  const cpuSeconds = async (): Promise<number> => {
    const now = await familyOf(root, readMember);
    const pids = new Set(now.map(({ pid }) => pid));
    orphanedTicks += ticksOf(seen.filter(({ pid, parent }) => pid !== root && !pids.has(pid) && !pids.has(parent)));
    seen = now;
    return (ticksOf(now) + orphanedTicks - ticksBefore) / TICKS_PER_SECOND;
  };
  let peakMiB = 0;
  const ended = new AbortController();
  const watch = async () => {
    try {
      for await (const _ of setInterval(SAMPLE_EVERY_MS, undefined, { signal: ended.signal })) {
        await cpuSeconds();
        const memory = await Promise.all(seen.map(({ pid }) => residentKiB(pid)));
        peakMiB = Math.max(peakMiB, memory.reduce((sum, kib) => sum + kib, 0) / 1024);
      }
    } catch (error) {
      if (!ended.signal.aborted) throw error;
    }
  };
  const watching = watch();
  try {
    const value = await work();
    ended.abort();
    await watching;
    return { value, cpuSeconds: await cpuSeconds(), peakMiB };
  } finally {
    ended.abort();
  }
}

function ticksOf(members: readonly Member[]): number {
  return members.reduce((sum, { cpuTicks }) => sum + cpuTicks, 0);
}

async function readMember(pid: number): Promise<Member | undefined> {
  const stat = await readFile(`/proc/${pid}/stat`, 'latin1').catch(() => undefined);
  if (stat === undefined) return undefined;
  // The name before these fields is in parentheses and may contain anything. These are fields 4 and 14 to 17 of proc(5).
  const [, parent, ...fields] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return { pid, parent: Number(parent), cpuTicks: fields.slice(9, 13).reduce((sum, each) => sum + Number(each), 0) };
}

async function residentKiB(pid: number): Promise<number> {
  const text = await readFile(`/proc/${pid}/smaps_rollup`, 'latin1').catch(() => '');
  return Number(/^Pss:\s+(\d+) kB/m.exec(text)?.[1] ?? 0);
}
