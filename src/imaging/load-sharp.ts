import type Sharp from 'sharp';
import { MAX_IMAGE_PIXELS } from '../capture/options/screenshot.ts';

/** The largest image of this service, and a tenth more for rounded sides. A larger file cannot be one. */
export const MAX_INPUT_PIXELS = Math.ceil(1.1 * MAX_IMAGE_PIXELS);

/**
 * Returns sharp, which decodes, scales and encodes on libuv's threads. The module is loaded with the first image, so
 * that a service that processes no images does not load it.
 */
export async function loadSharp(): Promise<typeof Sharp> {
  const { default: sharp } = await import('sharp');
  // One thread for each image: captures already run in parallel, and no image is read twice.
  sharp.concurrency(1);
  sharp.cache(false);
  return sharp;
}
