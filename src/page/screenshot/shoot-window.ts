import type { Protocol } from 'devtools-protocol';
import type { IsolatedPage } from '../isolated-page.ts';
import type { ShotPlan } from './shot-plan.ts';

/**
 * Takes the screenshot of the window. A session that emulates the window's size gives it back that size afterwards.
 * When the page's renderer ended meanwhile, Chromium (156) ends with it, and with every other page: the restored view
 * is gone (`PageHandler::ScreenshotCaptured`). A session that emulates nothing restores nothing, but its picture has a
 * scale of 1. Rejects as `send` does.
 */
export async function shootWindow(
  page: IsolatedPage,
  { scale }: ShotPlan,
  options: Protocol.Page.CaptureScreenshotRequest,
): Promise<Buffer> {
  const session = scale === 1 ? await page.unemulated() : page.session;
  return session.shoot(options);
}
