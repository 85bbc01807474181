import type { CaptureRequest, Viewport } from '../../../capture/request.ts';
import type { PageSession } from '../isolated-page.ts';

/** CSS pixels: what Playwright takes, and so what people expect. */
const DEFAULT_VIEWPORT: Viewport = { width: 1280, height: 720, deviceScaleFactor: 1, mobile: false, touch: false };

export function viewportOf(request: CaptureRequest): Viewport {
  return request.viewport ?? DEFAULT_VIEWPORT;
}

/** The screen that the page is shown on. */
export function emulateDevice(session: PageSession, request: CaptureRequest): void {
  const { width, height, deviceScaleFactor, mobile } = viewportOf(request);
  session.post('Emulation.setDeviceMetricsOverride', { width, height, deviceScaleFactor, mobile });
}
