import { devices } from 'playwright-core';
import type { Device } from '../src/http/schemas/options/devices.ts';

/* Prints the expected content of the device list; a test compares the two. */
const list = Object.entries(devices).map(([name, described]): [string, Device] => {
  const { viewport, userAgent, deviceScaleFactor, isMobile, hasTouch } = described;
  return [name, { viewport: { ...viewport, deviceScaleFactor, mobile: isMobile, touch: hasTouch }, userAgent }];
});
process.stdout.write(`${JSON.stringify(Object.fromEntries(list), null, 2)}\n`);
