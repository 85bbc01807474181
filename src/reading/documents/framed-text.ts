import { z } from 'zod';
import { call } from '../../page/asking/page-scripts.ts';
import type { FramedText } from '../../page-scripts/painted/framed-text.ts';
import { MAX_FRAMES, type OfFrames } from './frames.ts';
import { windowBox } from './image-boxes.ts';

/** Maximum number of texts and gaps of one frame, and of characters of its HTML. */
const MAX_ITEMS = 5_000;
const MAX_HTML_CHARACTERS = 512 * 1024;
const LIMITS = {
  nodes: 100_000,
  characters: 128 * 1024,
  hidden: 16 * 1024,
  frames: MAX_FRAMES,
  items: MAX_ITEMS,
  html: MAX_HTML_CHARACTERS,
};
const MAX_MS = 1_000;

const words = z.object({
  text: z.string(),
  isPre: z.boolean(),
  isBlank: z.boolean(),
  box: windowBox,
  isPlaced: z.boolean(),
});

const framedText: z.ZodType<FramedText> = z.object({
  items: z.array(z.union([words, z.object({ gap: z.string() })])).max(MAX_ITEMS),
  html: z.string().max(MAX_HTML_CHARACTERS),
  hidden: z.array(z.object({ technique: z.string(), text: z.string() })),
  unseen: z.number(),
  partial: z.boolean(),
});

/** Texts of frames of other origins, as `readThrough` reads them. */
export const TEXTS: OfFrames<FramedText> = {
  callOf: (ms) => call('readFramedText', { ...LIMITS, ms: Math.min(MAX_MS, ms / 2) }),
  answer: framedText,
  sizeOf: ({ items, html }) => items.reduce((sum, item) => sum + ('text' in item ? item.text.length : 0), html.length),
  placed: ({ items, ...rest }, toWindow) => ({
    ...rest,
    items: items.map((item) =>
      'gap' in item || item.isPlaced ? item : { ...item, box: toWindow(item.box), isPlaced: true },
    ),
  }),
};
