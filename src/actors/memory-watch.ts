import { readFile } from 'node:fs/promises';
import type { BrowserHost } from './browser-host.ts';

/** Bounds of memory that a process has for itself, in bytes. */
export interface MemoryBounds {
  /** A renderer above it is ended, and its capture fails with `page_too_large`. */
  readonly renderer: number;
  /** A browser process above it takes no new captures and is replaced; above twice of it, it is killed. */
  readonly browser: number;
}

const GIB = 1024 ** 3;
/** A large page takes 300 MiB, a browser process starts with 13 MiB of its own. */
export const MEMORY_BOUNDS: MemoryBounds = { renderer: 1.5 * GIB, browser: GIB };

export type MemoryVerdict = 'fits' | 'retire' | 'kill';

/** Ends each renderer of the browser that is above its bound. Returns what is to be done with the browser itself. */
export async function checkMemory(host: BrowserHost, bounds: MemoryBounds): Promise<MemoryVerdict> {
  let verdict: MemoryVerdict = 'fits';
  for (const { pid, type } of await host.processes()) {
    const bytes = await privateBytes(pid);
    if (type === 'renderer' && bytes > bounds.renderer) await host.endRenderer(pid);
    if (type !== 'browser' || bytes <= bounds.browser) continue;
    verdict = bytes > 2 * bounds.browser ? 'kill' : 'retire';
  }
  return verdict;
}

/** Resident memory of a process without what it shares with others, in bytes; 0 where the system does not tell. */
async function privateBytes(pid: number): Promise<number> {
  const [, resident = 0, shared = 0] = (await readFile(`/proc/${pid}/statm`, 'utf8').catch(() => ''))
    .split(' ')
    .map(Number);
  return (resident - shared) * 4096;
}
