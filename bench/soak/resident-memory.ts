import { readFile } from 'node:fs/promises';

/** Returns the largest resident memory that a process has had, in MiB. */
export async function peakResidentMiB(pid: number | undefined): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1] ?? Number.NaN) / 1024;
}
