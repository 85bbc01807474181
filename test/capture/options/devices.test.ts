import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '../../..');
const run = promisify(execFile);

describe('devices', () => {
  it('contains the devices of the installed Playwright, as `node scripts/device-list.ts` prints them', async () => {
    const { stdout } = await run(process.execPath, [join(ROOT, 'scripts/device-list.ts')]);
    const kept = await readFile(join(ROOT, 'src/capture/options/device-list.json'), 'utf8');
    expect(kept).toBe(stdout);
  });

  it('loads without Playwright', async () => {
    const source = `
      import { registerHooks } from 'node:module';
      registerHooks({
        resolve(name, context, next) {
          if (name.includes('playwright')) throw new Error('it was asked for ' + name);
          return next(name, context);
        },
      });
      const { findDevice } = await import(${JSON.stringify(join(ROOT, 'src/capture/options/devices.ts'))});
      console.log(findDevice('iphone 15').viewport.width);
    `;
    const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', source]);
    expect(stdout.trim()).toBe('393');
  });
});
