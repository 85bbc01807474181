import { z } from 'zod';
import { boundedThumbnail } from '../capture/artifacts/thumbnail.ts';
import { optionFields } from '../capture/options/groups.ts';
import type { Api } from './api.ts';
import { Captured, CaptureFacts, factsOf } from './captured.ts';
import { CAPTURES, tool } from './tool.ts';
import { NOTE } from './untrusted.ts';

/** The longest side of an image in pixels, and its size in bytes: what language models take without resizing. */
const MAX_IMAGE_SIDE = 1_568;
export const MAX_IMAGE_BYTES = 1024 * 1024;

/** Options that change what an agent sees. The HTTP API has more. */
const { fullPage, selector, device, darkMode, waitForSelector, delayMs, rejectCookieBanners, hidePopups, blockAds } =
  optionFields;
export const pageFields = {
  url: z.string().min(1).meta({ description: 'URL of the page; without a scheme, https is tried first.' }),
  selector,
  device,
  darkMode,
  waitForSelector,
  delayMs,
  rejectCookieBanners,
  hidePopups,
  blockAds,
};

export const captureInput = z.strictObject({ ...pageFields, fullPage });
export const captureTool = tool('capture', {
  title: 'Capture a web page',
  description:
    'Opens a page in a browser and returns an image of it (WebP, at most 1568 px and 1 MB; of a tall page the top), what kind of page it is, and URLs of the whole image and of its Markdown.',
  annotations: CAPTURES,
  inputSchema: captureInput,
  outputSchema: CaptureFacts.extend({
    shown: z
      .object({ width: z.int(), height: z.int(), of_height: z.int() })
      .nullable()
      .meta({ description: 'Size in pixels of the image in this answer, and of its original; null for none.' }),
    markdown: z.string().meta({ description: 'URL of the main content as Markdown; empty when there is none.' }),
  }),
  run: async (api, { url, ...options }, signal) => {
    const body = { url, ...options, outputs: ['markdown'] };
    const data = await api.read(Captured, '/screenshot', { body, signal });
    const image = await smallImage(api, data, signal);
    const markdown = data.outputs.find(({ name }) => name === 'markdown')?.path ?? '';
    const structuredContent = { ...factsOf(data, api), shown: image?.shown ?? null, markdown: api.link(markdown) };
    return {
      structuredContent,
      content: [
        { type: 'text', text: JSON.stringify(structuredContent) },
        NOTE,
        ...(image === null ? [] : [{ type: 'image' as const, data: image.data, mimeType: 'image/webp' }]),
      ],
    };
  },
});

/**
 * Returns a thumbnail of a capture within the bounds; of a page that is much higher than wide, its upper part. Null
 * when there is no image that a thumbnail can be made of.
 */
export async function smallImage(api: Api, { id, width, height, format }: Captured, signal?: AbortSignal) {
  if (format === 'pdf' || width === 0) return null;
  const isTall = height > 2 * width;
  let scale = isTall ? Math.min(1, MAX_IMAGE_SIDE / width) : Math.min(1, MAX_IMAGE_SIDE / Math.max(width, height));
  for (const quality of [80, 50, 30]) {
    const wanted = {
      width: Math.max(1, Math.round(width * scale)),
      height: Math.max(1, Math.min(MAX_IMAGE_SIDE, Math.round(height * scale))),
      ...{ format: 'webp' as const, quality },
    };
    const size = boundedThumbnail(wanted, { width, height, format });
    const path = `/screenshot/${id}?width=${size.width}&height=${size.height}&format=webp&quality=${quality}`;
    const bytes = Buffer.from(await (await api.send(path, signal && { signal })).arrayBuffer());
    if (bytes.length <= MAX_IMAGE_BYTES) {
      return { data: bytes.toString('base64'), shown: { width: size.width, height: size.height, of_height: height } };
    }
    scale *= 0.7;
  }
  return null;
}
