import { readdir, readFile } from 'node:fs/promises';

/** CPU time of a process, in clock ticks: hundredths of a second on Linux (`getconf CLK_TCK`). */
export interface CpuTime {
  readonly user: number;
  readonly system: number;
}

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
    const stat = await readFile(`/proc/${name}/stat`, 'latin1').catch(() => '');
    // The format is `pid (name) state parent group ...`, and the name may contain anything.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (Number(fields[2]) !== group) continue;
    const time = { user: Number(fields[11]), system: Number(fields[12]) };
    if (Number(name) === browserPid) {
      browser = time;
      continue;
    }
    const command = await readFile(`/proc/${name}/cmdline`, 'latin1').catch(() => '');
    if (command.includes('--type=renderer')) renderers.set(Number(name), time);
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
