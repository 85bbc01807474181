import type { CaptureRequest } from '../../capture/request.ts';
import { CdpError } from '../../cdp/connection.ts';
import type { PageSession } from '../page-session.ts';
import { encode } from './encode-image.ts';
import { changesElements } from './hide-and-mask.ts';
import { type ScreenshotSize, windowSize } from './screenshot-size.ts';

/**
 * Returns whether an image of the window may replace the screenshot of this request. False with `selector` and `clip`,
 * which name another part; with options that hide or mask elements, which the image ignores; and with `omitBackground`.
 */
export function mayShowWindow(request: CaptureRequest): boolean {
  const { selector, clip, omitBackground, format, failOnStatus, failOnText } = request;
  // A page that does not answer cannot be searched for an unwanted text.
  const refuses = failOnStatus ?? failOnText;
  const asksForPart = selector !== undefined || clip !== undefined;
  return !asksForPart && !changesElements(request) && refuses === undefined && !omitBackground && format !== 'pdf';
}

/**
 * Resolves with the last frame that the browser drew of the page's window, as a PNG of its CSS pixels. The frame comes
 * from the compositor, so it is available while the page's main thread is busy. Null when Chromium refuses.
 */
export async function lastFrame(session: PageSession): Promise<Buffer | null> {
  const { promise, resolve } = Promise.withResolvers<string>();
  const stop = session.on('Page.screencastFrame', ({ data }) => resolve(data));
  try {
    await session.send('Page.startScreencast', { format: 'png' });
    return Buffer.from(await promise, 'base64');
  } catch (error) {
    if (error instanceof CdpError) return null;
    throw error;
  } finally {
    stop();
    session.post('Page.stopScreencast');
  }
}

/** Brings a frame into the format and size of the request's screenshots. */
export async function pictureOf(
  frame: Buffer,
  request: CaptureRequest,
): Promise<ScreenshotSize & { readonly image: Buffer }> {
  const { default: sharp } = await import('sharp');
  const { width, height } = windowSize(request);
  const sized = sharp(frame).resize(width, height, { fit: 'cover', position: 'left top' });
  const image = await encode(sized, request).toBuffer();
  return { image, width, height, truncatedBy: request.fullPage ? 'time' : '', fullHeight: 0 };
}
