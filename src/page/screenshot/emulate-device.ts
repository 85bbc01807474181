import type { CaptureRequest } from '../../capture/request.ts';
import type { PageSession } from '../frames/page-session.ts';

/** Sets the page's viewport and screen: the device's own screen, or one as large as the viewport. */
export function emulateDevice(session: PageSession, viewport: CaptureRequest['viewport']): void {
  const { width, height, deviceScaleFactor, mobile, screen = { width, height } } = viewport;
  const isUpright = height > width;
  session.post('Emulation.setDeviceMetricsOverride', {
    width,
    height,
    deviceScaleFactor,
    mobile,
    screenWidth: screen.width,
    screenHeight: screen.height,
    // A phone that is wider than high has been turned to landscape; a desktop has not.
    screenOrientation: isUpright
      ? { type: 'portraitPrimary', angle: 0 }
      : { type: 'landscapePrimary', angle: mobile ? 90 : 0 },
  });
}
