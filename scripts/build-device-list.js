import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { devices } from 'playwright';

/*
 * Writes the device list of the installed Playwright for src/capture/options/devices.ts. Loading Playwright in the
 * service would block the event loop for 0.4 s and hold 71 MB. Plain JavaScript, like build.js, which runs this file.
 */

/** Gives a screen the orientation of its viewport: Playwright lists a phone's screen upright for both orientations. */
function turned({ width, height }, viewport) {
  return width > height === viewport.width > viewport.height ? { width, height } : { width: height, height: width };
}

const list = Object.entries(devices).map(([name, described]) => {
  const { viewport, userAgent, deviceScaleFactor, isMobile, hasTouch, screen } = described;
  const shown = { ...viewport, deviceScaleFactor, mobile: isMobile, touch: hasTouch };
  return [name, { viewport: screen === undefined ? shown : { ...shown, screen: turned(screen, viewport) }, userAgent }];
});
const file = join(import.meta.dirname, '../src/capture/options/device-list.json');
writeFileSync(file, `${JSON.stringify(Object.fromEntries(list), null, 2)}\n`);
