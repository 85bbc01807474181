import { z } from 'zod';
import { BEGIN, type OfFrames } from './frames.ts';
import { windowBox } from './image-boxes.ts';
import type { PaintedLimits } from './painted.ts';
import { PAINTED_COPY } from './painted-copy.ts';

/* The text of frames of other origins. */

const LIMITS: PaintedLimits = { nodes: 100_000, characters: 128 * 1024, hidden: 16 * 1024, ms: 1_000 };
/** Maximum number of texts of one frame, and of characters of its HTML. */
const MAX_ITEMS = 5_000;
const MAX_HTML_CHARACTERS = 512 * 1024;

/**
 * A text or a gap between texts. `box`: in the window of the frame. `at`: in that of the page, for a text of a frame in
 * it.
 */
const item = z.object({
  text: z.string().optional(),
  gap: z.string().optional(),
  isPre: z.boolean().optional(),
  isBlank: z.boolean().optional(),
  box: windowBox.optional(),
  at: windowBox.optional(),
});

const framed = z.object({
  items: z.array(item).max(MAX_ITEMS * 2),
  html: z.string().max(MAX_HTML_CHARACTERS),
  hidden: z.array(z.object({ technique: z.string(), text: z.string() })),
  unseen: z.number(),
  partial: z.boolean(),
});
type Framed = z.output<typeof framed>;

/** Runs in the page. Returns what `BEGIN` takes as `enter`. `fill`: puts the HTML of a frame where the frame is. */
export const ENTER_TEXT = `(found, fill = () => {}) => (frame, element) => {
  fill(element, frame.html);
  found.hidden.push(...frame.hidden.map((each) => ({ ...each, node: element })));
  found.unseen += frame.unseen;
  return frame.items.map((each) => each.text === undefined ? each : { ...each, mark: null, parent: element, isFramed: true, box: () => each.at });
}`;

/** Runs in a frame. */
const FRAMED = `(limits) => {
  const found = (${PAINTED_COPY})(limits);
  return (${BEGIN})(found, ({ items, copy, hidden, unseen, partial }) => {
    const kept = items.filter(({ gap, text }) => gap !== undefined || text !== undefined).slice(0, ${MAX_ITEMS});
    const html = copy.body.innerHTML.slice(0, ${MAX_HTML_CHARACTERS});
    const isCut = kept.length === ${MAX_ITEMS} || html.length === ${MAX_HTML_CHARACTERS};
    return {
      items: kept.map(({ gap, text, isPre, isBlank, isFramed, box }) =>
        gap !== undefined ? { gap } : { text: text.toWellFormed(), isPre, isBlank, ...(isFramed ? { at: box() } : { box: isBlank ? null : box() }) }),
      html: html.toWellFormed(),
      hidden: hidden.slice(0, 200).map(({ technique, text }) => ({ technique, text: text.toWellFormed() })),
      unseen,
      partial: partial || isCut,
    };
  }, (${ENTER_TEXT})(found, found.fill));
}`;

/** Texts of frames, as `readThrough` reads them. */
export const TEXTS: OfFrames<Framed> = {
  expression: (ms) => `(${FRAMED})(${JSON.stringify({ ...LIMITS, ms: Math.min(LIMITS.ms, ms / 2) })})`,
  answer: framed,
  sizeOf: ({ items, html }) => items.reduce((sum, { text = '' }) => sum + text.length, html.length),
  placed: ({ items, ...rest }, toWindow) => ({
    ...rest,
    items: items.map(({ box, ...each }) => (box === undefined ? each : { ...each, at: toWindow(box) })),
  }),
};
