import { readFileSync } from 'node:fs';
import { CapstanError } from '../../capture/errors.ts';
import type { BrowserHost } from '../browser-host.ts';

/** Limits for the private memory of a process, in bytes. */
export interface MemoryBounds {
  /** A renderer above this limit is killed, and its capture fails with `page_too_large`. */
  readonly renderer: number;
  /** A browser process above this limit takes no new captures and is replaced; above twice the limit it is killed. */
  readonly browser: number;
}

const GIB = 1024 ** 3;
/** Measured: a large page uses 300 MiB, a new browser process 13 MiB. */
export const MEMORY_BOUNDS: MemoryBounds = { renderer: 1.5 * GIB, browser: GIB };

const TOO_MUCH = 'the page needs more memory than one page may use, and was ended';

type MemoryVerdict = 'fits' | 'retire' | 'kill';

/** Kills each renderer above its limit. Returns the verdict on the browser process itself. */
export async function checkMemory(host: BrowserHost, bounds: MemoryBounds): Promise<MemoryVerdict> {
  let verdict: MemoryVerdict = 'fits';
  for (const { pid, type } of await host.processes()) {
    if (type !== 'renderer' && type !== 'browser') continue;
    const bytes = privateBytes(pid);
    if (bytes <= bounds[type] || !(await host.owns(pid))) continue;
    if (type === 'browser') verdict = bytes > 2 * bounds.browser ? 'kill' : 'retire';
    else await host.endRenderer(pid, new CapstanError('page_too_large', TOO_MUCH));
  }
  return verdict;
}

/**
 * Returns the resident memory of a process without shared pages, in bytes; 0 where the system does not report it. Reads
 * at once: the kernel has the answer, and a read in the background takes ten times as much CPU.
 */
function privateBytes(pid: number): number {
  const [, resident = 0, shared = 0] = statm(pid).split(' ').map(Number);
  return (resident - shared) * 4096;
}

function statm(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/statm`, 'utf8');
  } catch {
    return '';
  }
}
