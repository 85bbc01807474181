import type { Protocol } from 'devtools-protocol';
import type { IsolatedPage } from '../isolated-page.ts';
import type { ShotPlan } from './shot-plan.ts';

/**
 * Takes the screenshot of the window. A session that emulates the window's size restores that size afterwards. If the
 * page's renderer has ended by then, Chromium 156 crashes, and all its pages with it: the restored view is gone
 * (`PageHandler::ScreenshotCaptured`). A session that emulates nothing restores nothing, but its image has a scale of
 * 1. Rejects as `send` does.
 */
export async function shootWindow(
  page: IsolatedPage,
  { scale }: ShotPlan,
  options: Protocol.Page.CaptureScreenshotRequest,
): Promise<Buffer> {
  const session = scale === 1 ? await page.unemulated() : page.session;
  return session.shoot(options);
}
