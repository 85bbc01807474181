import { z } from 'zod';
import { within } from '../../deadline.ts';
import { OUTPUT_WORLD } from '../ask-page.ts';
import { type ToPage, toPage } from '../find/box-in-page.ts';
import { frameIds, type NestedFrame } from '../find/places.ts';
import { windowBox } from './image-boxes.ts';
import type { PaintedLimits } from './painted.ts';
import { PAINTED_COPY } from './painted-copy.ts';
import type { Reading } from './reading.ts';

/*
 * The text of frames of other origins. A document's script cannot look into them, so it stops at them (`BEGIN`); each is
 * asked in a world of its own, and the document goes on with the answers.
 */

/** Maximum number of frames of one page, and of frames around a frame, that are read. */
const MAX_FRAMES = 50;
const MAX_DEPTH = 5;
const LIMITS: PaintedLimits = { nodes: 100_000, characters: 128 * 1024, hidden: 16 * 1024, ms: 1_000 };
/** Maximum number of texts of one frame, and of characters of its HTML. */
const MAX_ITEMS = 5_000;
const MAX_HTML_CHARACTERS = 512 * 1024;
/** Maximum number of characters of the texts and the HTML of all frames. */
const MAX_CHARACTERS = 1024 * 1024;
/** Minimum time in milliseconds for a document to go on with the texts of its frames. */
const MIN_FINISH_MS = 1_500;
/** Share of the time left for a document in which its frames answer. */
const SHARE = 0.6;

/** Time limit for the frames of a document in milliseconds: a script may block one for good. */
const MAX_FRAME_MS = 2_000;

const KEPT = `globalThis[Symbol.for('capstan-frames')]`;

const beginning = z.union([z.object({ key: z.number(), frames: z.number() }), z.object({ done: z.unknown() })]);

/** A text, a gap between texts, and where the text is: in the frame's window, or, of a frame in it, in the page's. */
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

/**
 * Runs in the page, with the result of `PAINTED` or `PAINTED_COPY`. Returns `{ done: finish(found) }`; when frames of other
 * origins were painted, `{ key, frames }`, and `finish` waits until `readThrough` has read them. Then their texts are
 * items of `found`, and their `html` is in `fill`'s place.
 */
export const BEGIN = `(found, finish, fill = () => {}) => {
  const outside = found.items.filter((item) => item.outside !== undefined).slice(0, ${MAX_FRAMES});
  if (outside.length === 0) return { done: finish(found) };
  const kept = (${KEPT} ??= { last: 0, readings: new Map() });
  const key = (kept.last += 1);
  kept.readings.set(key, {
    elements: outside.map((item) => item.outside),
    finish: (frames) => {
      kept.readings.delete(key);
      const inside = new Map(outside.map((item, at) => [item, frames[at] ?? null]));
      const items = [];
      for (const item of found.items) {
        items.push(item);
        const frame = inside.get(item) ?? null;
        if (frame === null) {
          if (inside.has(item)) found.partial = true;
          continue;
        }
        const { outside: element } = item;
        for (const each of frame.items) items.push(each.text === undefined ? each : { ...each, mark: null, parent: element, isFramed: true, box: () => each.at });
        fill(element, frame.html);
        found.hidden.push(...frame.hidden.map((each) => ({ ...each, node: element })));
        found.unseen += frame.unseen;
        found.partial ||= frame.partial;
      }
      found.items = items;
      return finish(found);
    },
  });
  return { key, frames: outside.length };
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
  }, found.fill);
}`;

/** Where a document is, and what all frames share: what may still be read, and whether texts have boxes in the page. */
interface Inside {
  readonly place?: NestedFrame;
  readonly depth?: number;
  readonly shared?: { frames: number; characters: number; readonly hasBoxes: boolean };
}

/**
 * Asks a document with an expression that returns what `BEGIN` returns, lets its frames of other origins answer, and
 * returns what `finish` returns. A frame without an answer in time has no text.
 */
export async function readThrough(
  reading: Reading,
  expression: string,
  ms: number,
  { place, depth = 0, shared }: Inside = {},
): Promise<unknown> {
  const { page, ask } = reading;
  // The boxes of a document that a selector has entered are those of its own window.
  const room = shared ?? { frames: MAX_FRAMES, characters: MAX_CHARACTERS, hasBoxes: place === undefined };
  const startedAt = performance.now();
  const begun = beginning.parse(await ask(expression, ms, place));
  if ('done' in begun) return begun.done;
  const { key } = begun;
  const from: NestedFrame = place ?? { session: page.session, frame: page.frame, entrance: undefined };
  const left = () => Math.max(1, ms - (performance.now() - startedAt));
  const answers: (Framed | null)[] = [];
  if (depth < MAX_DEPTH) {
    const finding = frameIds(from, `${KEPT}.readings.get(${key}).elements`, { world: OUTPUT_WORLD });
    const ids = await within(
      left() * SHARE,
      finding.catch(() => []),
      [],
    );
    const frameMs = Math.min(left() * SHARE, MAX_FRAME_MS);
    const asking = ids.map(async (id) => {
      room.frames -= 1;
      if (id === undefined || room.frames < 0) return null;
      const session = page.frames.outOfProcess.get(id) ?? from.session;
      const inner: NestedFrame = { session, frame: { id }, entrance: { from } };
      const limits = { ...LIMITS, ms: Math.min(LIMITS.ms, frameMs / 2) };
      const expression = `(${FRAMED})(${JSON.stringify(limits)})`;
      const answer = async () => {
        const found = framed.parse(
          await readThrough(reading, expression, frameMs, { place: inner, depth: depth + 1, shared: room }),
        );
        room.characters -= found.items.reduce((sum, { text = '' }) => sum + text.length, found.html.length);
        return room.characters < 0 ? null : placed(found, room.hasBoxes ? await toPage(inner) : undefined);
      };
      return await within(
        frameMs,
        answer().catch(() => null),
        null,
      );
    });
    answers.push(...(await Promise.all(asking)));
  }
  const finishMs = Math.max(MIN_FINISH_MS, left());
  return await ask(`${KEPT}.readings.get(${key}).finish(${JSON.stringify(answers)})`, finishMs, place);
}

/** Turns the boxes of a frame into boxes of the page. */
function placed({ items, ...rest }: Framed, toWindow: ToPage | undefined): Framed {
  const at = (box: z.output<typeof windowBox>) => (box === null ? null : (toWindow?.(box) ?? null));
  return { ...rest, items: items.map(({ box, ...each }) => (box === undefined ? each : { ...each, at: at(box) })) };
}
