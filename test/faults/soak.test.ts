import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';

const SOAK = join(import.meta.dirname, '../../bench/soak.ts');
const SECONDS = 8;

describe('npm run soak', () => {
  it('returns to its baseline after each wave, with every capture accounted for', async () => {
    const child = spawn(process.execPath, ['--expose-gc', SOAK, '--seconds', String(SECONDS)]);
    child.stdin.end();
    const [said, complained, [code]] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, 'close'),
    ]);
    expect(code, `${said}\n${complained}`).toBe(0);
    expect(said).toContain('captures accepted = stored');
  }, 180_000);
});
