import type { Viewport } from '../../../capture/options/screenshot.ts';
import type { CaptureRequest } from '../../../capture/request.ts';
import type { PageSession } from '../isolated-page.ts';

/** CSS pixels: what Playwright takes, and so what people expect. */
const DEFAULT_VIEWPORT: Viewport = { width: 1280, height: 720, deviceScaleFactor: 1, mobile: false, touch: false };

export function viewportOf(request: CaptureRequest): Viewport {
  return request.viewport ?? DEFAULT_VIEWPORT;
}

/** Gives the page its viewport, on the screen of its device or on one that is as large. */
export function emulateDevice(session: PageSession, request: CaptureRequest): void {
  const { width, height, deviceScaleFactor, mobile, screen = { width, height } } = viewportOf(request);
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
