import type { CaptureRequest } from '../../../capture/request.ts';
import type { PageSession } from '../isolated-page.ts';

/** Gives the page its viewport, on the screen of its device or on one that is as large. */
export function emulateDevice(session: PageSession, request: CaptureRequest): void {
  const { width, height, deviceScaleFactor, mobile, screen = { width, height } } = request.viewport;
  const isUpright = height > width;
  session.post('Emulation.setDeviceMetricsOverride', {
    width,
    height,
    deviceScaleFactor,
    mobile,
    screenWidth: screen.width,
    screenHeight: screen.height,
    // A phone has to be turned to be wider than high, a desktop does not.
    screenOrientation: isUpright
      ? { type: 'portraitPrimary', angle: 0 }
      : { type: 'landscapePrimary', angle: mobile ? 90 : 0 },
  });
}
