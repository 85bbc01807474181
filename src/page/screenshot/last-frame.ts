import { CdpError } from '../../cdp/connection.ts';
import type { PageSession } from '../frames/page-session.ts';
import { encode } from './encode-image.ts';
import { type ScreenshotSize, windowSize } from './screenshot-size.ts';
import type { ShotPlan } from './shot-plan.ts';

/**
 * Returns whether an image of the window may replace the screenshot. False for another part, with options that hide or
 * mask elements, which the image ignores, and for a transparent screenshot.
 */
export function mayShowWindow({ shown, changesElements, final }: ShotPlan): boolean {
  return (shown.what === 'window' || shown.what === 'page') && !changesElements && !final.isTransparent;
}

/**
 * Resolves with the last frame that the browser drew of the page's window, as a PNG of its CSS pixels. The frame comes
 * from the compositor, so it is available while the page's main thread is busy: its event is awaited, and not the
 * answer, for which Chromium 153 asks that thread. Null when Chromium refuses.
 */
export async function lastFrame(session: PageSession): Promise<Buffer | null> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const stop = session.on('Page.screencastFrame', ({ data }) => resolve(data));
  session.send('Page.startScreencast', { format: 'png' }).catch(reject);
  try {
    return Buffer.from(await promise, 'base64');
  } catch (error) {
    if (error instanceof CdpError) return null;
    throw error;
  } finally {
    stop();
    session.post('Page.stopScreencast');
  }
}

/** Brings a frame into the format and size of a screenshot. */
export async function screenshotOf(
  frame: Buffer,
  plan: ShotPlan,
): Promise<ScreenshotSize & { readonly image: Buffer }> {
  const { default: sharp } = await import('sharp');
  const { width, height } = windowSize(plan);
  const sized = sharp(frame).resize(width, height, { fit: 'cover', position: 'left top' });
  const image = await encode(sized, plan.taken).toBuffer();
  return { image, width, height, truncatedBy: plan.shown.what === 'page' ? 'time' : '', fullHeight: 0 };
}
