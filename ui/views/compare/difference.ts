/** Number of rows compared at once: few, so that the page stays responsive and uses little memory. */
const STRIP = 512;
/** Colour of changed pixels: red, green, blue. */
const CHANGED = [230, 20, 90] as const;

export interface Difference {
  /** Number of pixels of the common area that differ by more than the tolerance. */
  readonly changed: number;
  /** Number of pixels of the area that both images have. */
  readonly common: number;
  /** Number of pixels that only the one image has, and only the other. */
  readonly onlyBefore: number;
  readonly onlyAfter: number;
}

/**
 * Draws where two images differ: changed pixels, and those that only one image has, in one colour, the others faint. `tolerance` is the largest difference
 * of a colour channel, 0 to 255, that is ignored.
 */
export async function drawDifference(
  canvas: HTMLCanvasElement,
  [a, b]: readonly [ImageBitmap, ImageBitmap],
  tolerance: number,
  signal: AbortSignal,
): Promise<Difference> {
  const width = Math.max(a.width, b.width);
  const height = Math.max(a.height, b.height);
  canvas.width = width;
  canvas.height = height;
  const drawn = contextOf(canvas);
  const [readA, readB] = [stripReader(a, width), stripReader(b, width)];
  const common = { width: Math.min(a.width, b.width), height: Math.min(a.height, b.height) };
  let changed = 0;
  for (let top = 0; top < height; top += STRIP) {
    if (signal.aborted) throw signal.reason;
    const rows = Math.min(STRIP, height - top);
    const ofA = readA(top, rows);
    const ofB = readB(top, rows);
    changed += mark(ofA, ofB, tolerance, { ...common, height: common.height - top });
    drawn.putImageData(ofB, 0, top);
    await new Promise((resolve) => setTimeout(resolve));
  }
  const area = common.width * common.height;
  return { changed, common: area, onlyBefore: a.width * a.height - area, onlyAfter: b.width * b.height - area };
}

/**
 * Overwrites the pixels of the second strip with the image of the difference. Returns the number of changed pixels in the
 * common area, which begins in the upper left corner. Pixels outside of it always differ.
 */
function mark(
  { data: a }: ImageData,
  { data: b, width }: ImageData,
  tolerance: number,
  common: { readonly width: number; readonly height: number },
): number {
  let changed = 0;
  for (let at = 0; at < b.length; at += 4) {
    const pixel = at / 4;
    const isCommon = pixel % width < common.width && pixel < common.height * width;
    const differs =
      !isCommon ||
      Math.abs((a[at] ?? 0) - (b[at] ?? 0)) > tolerance ||
      Math.abs((a[at + 1] ?? 0) - (b[at + 1] ?? 0)) > tolerance ||
      Math.abs((a[at + 2] ?? 0) - (b[at + 2] ?? 0)) > tolerance ||
      Math.abs((a[at + 3] ?? 0) - (b[at + 3] ?? 0)) > tolerance;
    if (differs) {
      if (isCommon) changed += 1;
      b.set(CHANGED, at);
    } else {
      // Luminance, three quarters of the way to white.
      const grey = 191 + ((b[at] ?? 0) * 0.299 + (b[at + 1] ?? 0) * 0.587 + (b[at + 2] ?? 0) * 0.114) / 4;
      b[at] = grey;
      b[at + 1] = grey;
      b[at + 2] = grey;
    }
    b[at + 3] = 255;
  }
  return changed;
}

/** Returns a function that reads rows of an image. Pixels outside the image are transparent. */
function stripReader(image: ImageBitmap, width: number) {
  const strip = document.createElement('canvas');
  strip.width = width;
  strip.height = STRIP;
  const context = contextOf(strip);
  return (top: number, rows: number): ImageData => {
    context.clearRect(0, 0, width, STRIP);
    context.drawImage(image, 0, -top);
    return context.getImageData(0, 0, width, rows);
  };
}

function contextOf(canvas: HTMLCanvasElement): CanvasRenderingContext2D {
  const context = canvas.getContext('2d', { willReadFrequently: true });
  if (context === null) throw new Error('This browser cannot draw on a canvas.');
  return context;
}

/** Loads the image of a capture, to read its pixels. */
export async function loadImage(path: string, signal: AbortSignal): Promise<ImageBitmap> {
  const response = await fetch(path, { signal });
  if (!response.ok) throw new Error(`The image could not be loaded (${response.status}).`);
  return createImageBitmap(await response.blob());
}
