import { readdir, readFile } from 'node:fs/promises';
import { type ProcessStat, processStat } from './process-stat.ts';

/** CPU time of a process, in clock ticks. */
export type CpuTime = Pick<ProcessStat, 'user' | 'system'>;

/** The CPU times of a browser process, and of its renderers by process id. */
export interface Family {
  readonly browser: CpuTime;
  readonly renderers: ReadonlyMap<number, CpuTime>;
}

const NONE: CpuTime = { user: 0, system: 0 };

/** Returns the CPU times of a browser and of the renderers in its process group; nothing on systems without `/proc`. */
export async function cpuTimes(group: number, browserPid: number): Promise<Family> {
  const renderers = new Map<number, CpuTime>();
  let browser = NONE;
  const names = await readdir('/proc').catch(() => []);
  for (const name of names) {
    if (!/^\d+$/.test(name)) continue;
    const pid = Number(name);
    const stat = await processStat(pid);
    if (stat?.group !== group) continue;
    const { user, system } = stat;
    if (pid === browserPid) {
      browser = { user, system };
      continue;
    }
    const command = await readFile(`/proc/${name}/cmdline`, 'latin1').catch(() => '');
    if (command.includes('--type=renderer')) renderers.set(pid, { user, system });
  }
  return { browser, renderers };
}

/** Returns the CPU times spent in between, by the browser and by the renderers that run at both times. */
export function spent(before: Family, now: Family): Family {
  const renderers = new Map<number, CpuTime>();
  for (const [pid, time] of now.renderers) {
    const earlier = before.renderers.get(pid);
    if (earlier !== undefined) renderers.set(pid, difference(time, earlier));
  }
  return { browser: difference(now.browser, before.browser), renderers };
}

function difference(later: CpuTime, earlier: CpuTime): CpuTime {
  return { user: later.user - earlier.user, system: later.system - earlier.system };
}
