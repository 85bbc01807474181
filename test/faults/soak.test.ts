import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';

const SOAK = join(import.meta.dirname, '../../bench/soak.ts');
const SECONDS = 8;
/** Each has one round with the service as a process of its own. */
const FAULTS = [
  'kill -9',
  'DNS starvation',
  'navigation flood',
  'unread log pipe',
  'descriptor exhaustion',
  'full disks',
  'line bomb',
];

describe('npm run soak', () => {
  it('loses nothing in a wave and in a round of each fault, and returns to its base line', async () => {
    const child = spawn(process.execPath, ['--expose-gc', SOAK, '--seconds', String(SECONDS)]);
    child.stdin.end();
    const [said, complained, [code]] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, 'close'),
    ]);
    expect(code, `${said}\n${complained}`).toBe(0);
    expect(said).toContain('captures accepted = stored');
    for (const fault of FAULTS) expect(said).toMatch(new RegExp(`^round \\d+: ${fault};|^without ${fault}: `, 'm'));
  }, 300_000);
});
