import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';

const SOAK = join(import.meta.dirname, '../../bench/soak.ts');
const SECONDS = 8;
/** Time limit of the soak. The test itself ends a longer one, so that the failure shows its output. */
const LIMIT_MS = 10 * 60_000;

describe('npm run soak', () => {
  it(
    'loses nothing in a wave of faults and in rounds of kill -9, and returns to its base line',
    async () => {
      const args = ['--expose-gc', SOAK, '--seconds', String(SECONDS)];
      // In a process group of its own, so that its services end with it.
      const child = spawn(process.execPath, args, { detached: true });
      const endGroup = () => {
        if (child.pid === undefined) return;
        try {
          process.kill(-child.pid, 'SIGKILL');
        } catch {
          // No process of the group is left.
        }
      };
      const limit = setTimeout(endGroup, LIMIT_MS);
      child.stdin.end();
      try {
        const [said, complained, [code, signal]] = await Promise.all([
          text(child.stdout),
          text(child.stderr),
          once(child, 'close'),
        ]);
        expect(code ?? `ended by ${signal} after at most ${LIMIT_MS / 60_000} minutes`, `${said}\n${complained}`).toBe(
          0,
        );
        expect(said).toContain('captures accepted = stored');
        expect(said).toMatch(/records after \d+ rounds of kill -9/);
      } finally {
        clearTimeout(limit);
        endGroup();
      }
    },
    LIMIT_MS + 60_000,
  );
});
