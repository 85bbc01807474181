import { readdirSync, readFileSync } from 'node:fs';
import { setInterval } from 'node:timers/promises';

/** Linux counts CPU time in these ticks (`getconf CLK_TCK`; 100 on every platform that Node runs on). */
const TICKS_PER_SECOND = 100;
/**
 * Interval between memory samples. Summing up a browser's memory takes the kernel about 30 ms, so sampling more often
 * would distort the measurement.
 */
const SAMPLE_EVERY_MS = 700;

interface ProcessStat {
  readonly pid: number;
  readonly parent: number;
  /** CPU time of the process, including children it waited for. */
  readonly cpuTicks: number;
}

/** Memory of a process and its descendants, in MiB; shared pages are counted once (PSS). */
function memoryMiB(root: number): number {
  return tree(root).reduce((sum, { pid }) => sum + proportionalKiB(pid), 0) / 1024;
}

export interface Watched<T> {
  readonly value: T;
  /** CPU seconds of the tree, including processes that started and ended meanwhile. */
  readonly cpuSeconds: number;
  /** Peak memory, in MiB. */
  readonly peakMiB: number;
}

/** Measures a process and its descendants while `work` runs. */
export async function watchTree<T>(root: number, work: () => Promise<T>): Promise<Watched<T>> {
  const cpu = new CpuAccount(root);
  const ended = new AbortController();
  let peakMiB = 0;
  const watch = async () => {
    try {
      for await (const _ of setInterval(SAMPLE_EVERY_MS, undefined, { signal: ended.signal })) {
        peakMiB = Math.max(peakMiB, memoryMiB(root));
        cpu.sample();
      }
    } catch (error) {
      if (!ended.signal.aborted) throw error;
    }
  };
  const watching = watch();
  try {
    const value = await work();
    return { value, cpuSeconds: cpu.sample(), peakMiB };
  } finally {
    ended.abort();
    await watching;
  }
}

/**
 * CPU time of a process tree from now on. When a child ends, the kernel adds its time to the parent that waits for it;
 * the parent of renderers is their browser's zygote. A zygote outlives its browser and leaves the tree, so the last
 * known time of such orphans is kept here.
 */
class CpuAccount {
  readonly #root: number;
  readonly #ticksBefore: number;
  #seen: ReadonlyMap<number, ProcessStat>;
  #orphanedTicks = 0;

  constructor(root: number) {
    this.#root = root;
    this.#seen = byPid(tree(root));
    this.#ticksBefore = sumTicks(this.#seen);
  }

  /** CPU seconds up to now. */
  sample(): number {
    const now = byPid(tree(this.#root));
    for (const { pid, parent, cpuTicks } of this.#seen.values()) {
      if (pid !== this.#root && !now.has(pid) && !now.has(parent)) this.#orphanedTicks += cpuTicks;
    }
    this.#seen = now;
    return (sumTicks(now) + this.#orphanedTicks - this.#ticksBefore) / TICKS_PER_SECOND;
  }
}

function byPid(processes: readonly ProcessStat[]): ReadonlyMap<number, ProcessStat> {
  return new Map(processes.map((one) => [one.pid, one]));
}

function sumTicks(processes: ReadonlyMap<number, ProcessStat>): number {
  return processes.values().reduce((sum, { cpuTicks }) => sum + cpuTicks, 0);
}

function tree(root: number): readonly ProcessStat[] {
  const childrenOf = Map.groupBy(
    readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .flatMap((name) => readStat(Number(name))),
    ({ parent }) => parent,
  );
  const found = [...readStat(root)];
  for (const { pid } of found) found.push(...(childrenOf.get(pid) ?? []));
  return found;
}

/** Returns an empty list when the process has ended. */
function readStat(pid: number): ProcessStat[] {
  const [, parent, ...rest] = statFields(`/proc/${pid}/stat`);
  if (parent === undefined) return [];
  const cpuTicks = rest.slice(9, 13).reduce((sum, ticks) => sum + Number(ticks), 0);
  return [{ pid, parent: Number(parent), cpuTicks }];
}

/** The fields from the state on. The name before it is in parentheses and may contain anything. */
function statFields(file: string): readonly string[] {
  const text = readOrEmpty(file);
  return text.slice(text.lastIndexOf(')') + 2).split(' ');
}

function proportionalKiB(pid: number): number {
  return Number(/^Pss:\s+(\d+) kB/m.exec(readOrEmpty(`/proc/${pid}/smaps_rollup`))?.[1] ?? 0);
}

function readOrEmpty(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
