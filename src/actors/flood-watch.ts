import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import type { BrowserHost } from './browser-host.ts';

/** Time without an answer after which a browser is examined, in milliseconds. Measured: 100 ms on two busy cores. */
const SILENCE_MS = 250;
/** Interval in which the CPU time of renderers is measured, in milliseconds. */
const SAMPLE_MS = 150;
/** Maximum number of intervals; after them, the heartbeat ends the browser. */
const MAX_SAMPLES = 50;
/** Minimum CPU time in the kernel, in clock ticks: hundredths of a second on Linux (`getconf CLK_TCK`). */
const MIN_SYSTEM_TICKS = 3;
/**
 * Minimum share of its CPU time that a flooding renderer spends in the kernel. Measured: 0.45 to 0.8 for pages that
 * write 100 kB to the console or call `pushState` with 1.9 MB in a loop, at most 0.05 for a page that only computes.
 */
const MIN_SYSTEM_SHARE = 0.3;

const FLOOD = 'the page kept the browser from answering with messages (console, history or similar), and was ended';

/** CPU time of a process, in clock ticks. */
interface CpuTime {
  readonly user: number;
  readonly system: number;
}

/**
 * Ends renderers that flood a browser. The messages of all pages wait in one queue of the browser process, so two pages
 * that write to the console in a loop delay every other page by more than 10 s. While the browser does not answer, the
 * renderer that spends most CPU time in the kernel, where messages are sent, is ended. Its capture fails with
 * `page_too_large`. Does nothing on systems without `/proc`.
 */
export async function endFloods(host: BrowserHost): Promise<void> {
  let answered = false;
  const answer = host.answers(SILENCE_MS + MAX_SAMPLES * SAMPLE_MS).then(() => {
    answered = true;
  });
  await Promise.race([answer, delay(SILENCE_MS)]);
  if (answered) return;
  let before = await renderersOf(host.group);
  for (let sample = 0; sample < MAX_SAMPLES && !host.connection.closed; sample += 1) {
    await delay(SAMPLE_MS);
    if (answered) return;
    const now = await renderersOf(host.group);
    const worst = worstOf(before, now);
    if (worst !== undefined) void host.endRenderer(worst, FLOOD);
    before = now;
  }
}

/** Returns the renderer that has spent most CPU time in the kernel; undefined when none has spent much. */
function worstOf(before: ReadonlyMap<number, CpuTime>, now: ReadonlyMap<number, CpuTime>): number | undefined {
  let worst: number | undefined;
  let most = MIN_SYSTEM_TICKS - 1;
  for (const [pid, { user, system }] of now) {
    const last = before.get(pid);
    if (last === undefined) continue;
    const spent = system - last.system;
    if (spent <= most || spent < MIN_SYSTEM_SHARE * (spent + user - last.user)) continue;
    [worst, most] = [pid, spent];
  }
  return worst;
}

/** Returns the CPU time of each renderer in a process group, by process id. */
async function renderersOf(group: number): Promise<ReadonlyMap<number, CpuTime>> {
  const found = new Map<number, CpuTime>();
  const names = await readdir('/proc').catch(() => []);
  for (const name of names) {
    if (!/^\d+$/.test(name)) continue;
    const stat = await readFile(`/proc/${name}/stat`, 'latin1').catch(() => '');
    // The format is `pid (name) state parent group ...`, and the name may contain anything.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (Number(fields[2]) !== group) continue;
    const command = await readFile(`/proc/${name}/cmdline`, 'latin1').catch(() => '');
    if (!command.includes('--type=renderer')) continue;
    found.set(Number(name), { user: Number(fields[11]), system: Number(fields[12]) });
  }
  return found;
}
