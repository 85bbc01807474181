import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { devices } from 'playwright';
import { describe, expect, it } from 'vitest';
import { findDevice } from '../../../src/capture/options/devices.ts';

const ROOT = join(import.meta.dirname, '../../..');
const run = promisify(execFile);

describe('devices', () => {
  it('contains the devices of the installed Playwright', () => {
    const shown = Object.entries(devices).map(([name, { userAgent, viewport, deviceScaleFactor }]) => ({
      name,
      userAgent,
      viewport: { ...viewport, deviceScaleFactor },
    }));
    expect(shown.map(({ name }) => findDevice(name))).toMatchObject(shown);
  });

  it('gives a screen the orientation of its viewport', () => {
    expect(findDevice('iPhone 15')?.viewport.screen).toEqual({ width: 393, height: 852 });
    expect(findDevice('iPhone 15 landscape')?.viewport.screen).toEqual({ width: 852, height: 393 });
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
