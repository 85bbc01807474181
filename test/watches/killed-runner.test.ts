import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { describe, expect, it, onTestFinished } from 'vitest';
import { ANY_CLIENT } from '../../src/capture/client.ts';
import { DEFAULT_LIMITS, requestSchemas } from '../../src/capture/request.ts';
import { WATCH_LEASE_MS } from '../../src/storage/ports/watch-store.ts';
import { openSqlite } from '../../src/storage/sqlite/open.ts';
import { NO_PROGRESS, packDefinition, packProgress } from '../../src/watches/stored-form.ts';
import { makeDirectory } from '../support/temporary-directory.ts';

const WATCHES = 2_000;
/** Runs of a process at once, as in `watch-runner.ts`. */
const AT_ONCE = 8;
const POLL = { timeout: 60_000, interval: 5 };

describe('two processes that run the same watches', () => {
  it('run each watch once, although one of them is killed', async () => {
    const path = join(await makeDirectory(), 'results.db');
    const database = await openSqlite({ path });
    onTestFinished(() => database.close());
    const watch = requestSchemas(DEFAULT_LIMITS).watch;
    for (let id = 1; id <= WATCHES; id += 1) {
      const written = { url: `http://host${id % 50}.test/${id}`, every: '300d' };
      const { request, rules, callback } = watch.parse(written);
      const isPaused = false;
      const createdAt = new Date().toISOString();
      await database.watches.add({
        id,
        apiKeyName: '',
        host: request.target.host,
        everyMs: rules.every ?? null,
        dueAt: Date.now(),
        definition: packDefinition({ request, rules, callback, written, by: ANY_CLIENT, createdAt, isPaused }),
        progress: packProgress(NO_PROGRESS),
        labels: rules.labels,
        isShared: false,
      });
    }

    const begun: string[] = [];
    const told: string[] = [];
    const killed = runner(path, 0, begun, told);
    await expect.poll(() => killed.told, POLL).toBeGreaterThan(0);
    const other = runner(path, 0, begun, told);
    await expect.poll(() => other.told, POLL).toBeGreaterThan(0);
    await killed.kill();
    await expect.poll(() => new Set(told).size, POLL).toBeGreaterThanOrEqual(WATCHES - AT_ONCE);
    // Sees the leases of the killed process as expired.
    const third = runner(path, WATCH_LEASE_MS + 1_000, begun, told);
    await expect.poll(() => new Set(told).size, POLL).toBe(WATCHES);
    await Promise.all([other.kill(), third.kill()]);

    for (let id = 1; id <= WATCHES; id += 1) {
      expect(await database.watches.runs(id, 10, Number.MAX_SAFE_INTEGER)).toHaveLength(1);
    }
    // Only what was under way in the killed process was begun, or told, a second time.
    expect(begun.length - new Set(begun).size).toBeLessThanOrEqual(AT_ONCE);
    expect(told.length - new Set(told).size).toBeLessThanOrEqual(AT_ONCE);
    expect(killed.told).toBeLessThan(WATCHES);
  }, 120_000);
});

function runner(path: string, ahead: number, begun: string[], told: string[]) {
  const script = join(import.meta.dirname, 'watch-runner.ts');
  const child = spawn(process.execPath, ['--no-warnings', script, path, String(ahead)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const exit = once(child, 'exit');
  const state = {
    told: 0,
    /** Kills the process, which may have ended when nothing was due any more. */
    kill: async (): Promise<void> => {
      child.kill('SIGKILL');
      await exit;
    },
  };
  createInterface({ input: child.stdout }).on('line', (line) => {
    const [what, id = ''] = line.split(' ');
    if (what === 'told') state.told += 1;
    (what === 'told' ? told : begun).push(id);
  });
  return state;
}
