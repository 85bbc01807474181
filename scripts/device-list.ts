import { devices } from 'playwright';
import { z } from 'zod';
import type { Device } from '../src/capture/options/devices.ts';

const size = z.object({ width: z.number(), height: z.number() });
type Size = z.infer<typeof size>;

/* Prints the expected content of the device list; a test compares the two. */
const list = Object.entries(devices).map(([name, described]): [string, Omit<Device, 'name'>] => {
  const { viewport, userAgent, deviceScaleFactor, isMobile, hasTouch } = described;
  // Playwright's types do not declare it.
  const { screen } = z.object({ screen: size.optional() }).parse(described);
  const shown = { ...viewport, deviceScaleFactor, mobile: isMobile, touch: hasTouch };
  return [name, { viewport: screen === undefined ? shown : { ...shown, screen: turned(screen, viewport) }, userAgent }];
});
process.stdout.write(`${JSON.stringify(Object.fromEntries(list), null, 2)}\n`);

/** Gives a screen the orientation of its viewport: Playwright lists a phone's screen upright for both orientations. */
function turned({ width, height }: Size, viewport: Size): Size {
  return width > height === viewport.width > viewport.height ? { width, height } : { width: height, height: width };
}
