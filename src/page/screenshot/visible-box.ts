import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { intersection, union } from '../../capture/comparison/boxes.ts';
import type { Rectangle } from '../../capture/options/screenshot.ts';
import { evaluate } from '../asking/ask-page.ts';
import { call, type ResultOf } from '../asking/page-scripts.ts';
import { toPage } from '../find/box-in-page.ts';
import type { NestedFrame } from '../find/documents.ts';

/** Time between two questions for what the browser tells with its next frame. */
export const FRAME_MS = 10;
/** Edges that differ by less than this many CSS pixels are the same: the browser rounds what it tells. */
const ROUNDING = 1;

const EVERYWHERE = { x: -1e9, y: -1e9, width: 2e9, height: 2e9 };

const rectangle = z.object({ x: z.number(), y: z.number(), width: z.number(), height: z.number() });
const answered: z.ZodType<ResultOf<'visibleParts'>> = z
  .array(z.object({ box: rectangle, visible: rectangle }))
  .nullable();

/**
 * Resolves with the visible part of the element that a document has noted, in the page's window, and whether more of it
 * is cut off by what is around it. Null when all of it is cut off; undefined when a document was replaced meanwhile.
 */
export async function visibleBox(
  document: NestedFrame,
): Promise<(Rectangle & { readonly isCut: boolean }) | null | undefined> {
  const parts = await partsOf(document);
  const toWindow = await toPage(document);
  // The frame lies in boxes of another document, which may cut it off, too.
  const frame = document.entrance === undefined ? EVERYWHERE : await visibleBox(document.entrance.from);
  if (parts === undefined || toWindow === undefined || frame === undefined) return undefined;
  const whole = union(parts.map(({ box }) => box));
  const seen = union(parts.flatMap(({ box, visible }) => intersection(box, visible) ?? []));
  const [all, part] = [whole && toWindow(whole, (box) => box), seen && toWindow(seen)];
  const rest = part && frame && intersection(part, frame);
  if (all === null || rest === null) return null;
  const box = rounded(rest, all);
  return { ...box, isCut: box.width < all.width || box.height < all.height };
}

/** Resolves with what a document tells of the noted element, when it has drawn. */
async function partsOf(document: NestedFrame): Promise<NonNullable<ResultOf<'visibleParts'>> | undefined> {
  for (;;) {
    const answer = await evaluate(document, call('visibleParts', document.entrance !== undefined));
    if (answer === undefined) return undefined;
    const parts = answered.parse(answer);
    if (parts !== null) return parts;
    await delay(FRAME_MS);
  }
}

/** A part whose edges are those of the whole where they differ by nothing but rounding. */
function rounded(part: Rectangle, whole: Rectangle): Rectangle {
  const nearest = (edge: number, of: number) => (Math.abs(edge - of) < ROUNDING ? of : edge);
  const [x, y] = [nearest(part.x, whole.x), nearest(part.y, whole.y)];
  const right = nearest(part.x + part.width, whole.x + whole.width);
  const bottom = nearest(part.y + part.height, whole.y + whole.height);
  return { x, y, width: right - x, height: bottom - y };
}
