import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

/** Runs of a process at once, as in `watch-runner.ts`. */
export const AT_ONCE = 8;

/** The output of the processes, in the order in which it was read. */
export interface Seen {
  /** A run that was begun, and when. */
  readonly begun: { readonly id: number; readonly at: number }[];
  /** A run that was announced, and the time that it was for. */
  readonly told: { readonly id: number; readonly due: number }[];
}

export interface Runner {
  readonly pid: number;
  /** Number of runs that it has announced. */
  readonly told: number;
  /** Kills the process. */
  kill(): Promise<void>;
}

/**
 * Starts a process that runs the watches of a database. `ahead`: by how many milliseconds its clock is ahead. `ending`:
 * how many of its captures end.
 */
export function startRunner(place: string, seen: Seen, { ahead = 0, ending = Infinity } = {}): Runner {
  const script = join(import.meta.dirname, 'watch-runner.ts');
  const child = spawn(process.execPath, ['--no-warnings', script, place, String(ahead), String(ending)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exit = once(child, 'exit');
  let told = 0;
  createInterface({ input: child.stdout }).on('line', (line) => {
    const [what, id, time] = line.split(' ');
    if (what === 'told') {
      told += 1;
      seen.told.push({ id: Number(id), due: Number(time) });
    } else seen.begun.push({ id: Number(id), at: Number(time) });
  });
  return {
    pid: child.pid ?? 0,
    get told() {
      return told;
    },
    kill: async () => {
      child.kill('SIGKILL');
      await exit;
    },
  };
}
