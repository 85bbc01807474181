import { writeFile } from 'node:fs/promises';
import { setPriority } from 'node:os';

/**
 * Behind the service, and before what a machine does when it has nothing else to do. With every core at work, half of
 * the refusals then took 2 ms in place of up to 24, and the slowest one in a hundred a third of the time.
 */
const NICENESS = 10;

/**
 * Has a browser wait for a core rather than the service: pages are drawn when nobody waits to be answered. What the
 * process starts later inherits it, unless it is root's and raises itself. Where the system does not allow it, nothing changes.
 */
export async function giveWay(pid: number): Promise<void> {
  try {
    setPriority(pid, NICENESS);
  } catch {
    // It has ended already, which its owner finds out.
  }
  // Linux weighs sessions against each other, where it does (sched(7), autogroups), and a browser has one of its own.
  await writeFile(`/proc/${pid}/autogroup`, String(NICENESS)).catch(() => undefined);
}
