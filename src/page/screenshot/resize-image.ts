import { FORMATS } from '../../capture/formats.ts';
import type { CaptureRequest } from '../../capture/request.ts';
import { inTurn } from '../../imaging/in-turn.ts';
import { loadSharp, MAX_INPUT_PIXELS } from '../../imaging/load-sharp.ts';
import { encode } from './encode-image.ts';
import type { Picture } from './picture.ts';

/**
 * Returns the request to take the screenshot with. One that is resized is taken as PNG: it is encoded with loss only
 * once, and it may have more rows than its format holds.
 */
export function withoutLoss(request: CaptureRequest): CaptureRequest {
  const { format, resize } = request;
  if (format === 'pdf') return request;
  return { ...request, format: resize === undefined ? FORMATS[format].takenAs : 'png' };
}

/**
 * Scales a PNG down until it fits within `resize`, and encodes it in the request's format. It is decoded row by row, on
 * a thread of libuv. Without `resize`, a screenshot that was taken in the request's format stays as it is.
 */
export async function resizeImage(picture: Picture, request: CaptureRequest): Promise<Picture> {
  const { resize, format } = request;
  if (format === 'pdf' || (resize === undefined && FORMATS[format].takenAs === format)) return picture;
  const { width = Number.POSITIVE_INFINITY, height = Number.POSITIVE_INFINITY } = resize ?? {};
  const scale = Math.min(1, width / picture.width, height / picture.height);
  const scaled = (side: number) => Math.max(1, Math.round(side * scale));
  const size = { width: scaled(picture.width), height: scaled(picture.height) };
  const rows = Math.min(size.height, FORMATS[format].maxRows);
  const sharp = await loadSharp();
  const shown = sharp(picture.image, { limitInputPixels: MAX_INPUT_PIXELS, sequentialRead: true })
    .resize({ ...size, fit: 'fill' })
    .extract({ left: 0, top: 0, width: size.width, height: rows });
  return {
    ...picture,
    image: await inTurn(() => encode(shown, request).toBuffer()),
    width: size.width,
    height: rows,
    fullHeight: picture.fullHeight === 0 ? 0 : scaled(picture.fullHeight),
    truncatedBy: rows < size.height ? 'format' : picture.truncatedBy,
  };
}
