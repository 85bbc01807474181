import { setPriority } from 'node:os';

/**
 * Behind the service, as far as the system weighs the two against each other. In a control group of two cores, as
 * containers and units of systemd are, with ten times the load that can be served: half of the refusals took 1.8 ms in
 * place of 6.9, all but one in a hundred 14 in place of 72, and as many pages were captured.
 */
const NICENESS = 10;

/**
 * Has a browser wait for a core rather than the service: pages are drawn when nobody waits to be answered. What the
 * process starts later inherits it. Against what else a machine does, browsers keep their share: where Linux weighs
 * whole sessions or control groups (sched(7)), niceness counts inside of them alone, and it is left at that.
 */
export function giveWay(pid: number): void {
  try {
    setPriority(pid, NICENESS);
  } catch {
    // It has ended already, which its owner finds out.
  }
}
