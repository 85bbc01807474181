import { z } from 'zod';
import { intersection } from '../../capture/comparison/boxes.ts';
import type { Rectangle } from '../../capture/options/screenshot.ts';
import { CdpError } from '../../cdp/connection.ts';
import { evaluate } from '../asking/ask-page.ts';
import { call, type ResultOf } from '../asking/page-scripts.ts';
import type { NestedFrame } from './documents.ts';

const size: z.ZodType<ResultOf<'windowSize'>> = z.object({ width: z.number(), height: z.number() });

/** The corners of a frame's content in the window of its process, clockwise from the upper left one. */
type Quad = readonly number[];

/** Returns what the window of a frame leaves of a box. */
type Cut = (box: Rectangle, frame: Rectangle) => Rectangle | null;

/**
 * Converts a rectangle of a document's window into one of the page's; null if the frames around it hide all of it.
 * `cut`: by default, what a frame does not show is left out.
 */
export type ToPage = (box: Rectangle, cut?: Cut) => Rectangle | null;

/**
 * Resolves with a function that converts boxes of a document to boxes of the page's window, through the borders,
 * paddings, scroll positions and CSS transforms of the frames around it. Resolves with undefined when a document was
 * replaced meanwhile.
 */
export async function toPage(document: NestedFrame): Promise<ToPage | undefined> {
  const steps: ((box: Rectangle, cut: Cut) => Rectangle | null)[] = [];
  // Chromium answers in the window of the process, through all its frames: only the innermost of these is converted.
  let isInnermost = true;
  try {
    for (let at = document; at.entrance !== undefined; at = at.entrance.from) {
      const { from } = at.entrance;
      const content = await contentOf(at, from);
      if (isInnermost) {
        const { data } = size.safeParse(await evaluate(at, call('windowSize')));
        if (data === undefined) return undefined;
        steps.push((box, cut) => intoContent(cut(box, { x: 0, y: 0, ...data }), data, content));
      } else steps.push((box, cut) => cut(box, around(pointsOf(content))));
      isInnermost = from.session !== from.entrance?.from.session;
    }
  } catch (error) {
    if (error instanceof CdpError) return undefined;
    throw error;
  }
  return (box, cut = intersection) =>
    steps.reduce<Rectangle | null>((found, step) => (found === null ? null : step(found, cut)), box);
}

function intoContent(
  visible: Rectangle | null,
  { width, height }: ResultOf<'windowSize'>,
  content: Quad,
): Rectangle | null {
  return visible === null ? null : around(corners(visible).map(([x, y]) => onto(content, x / width, y / height)));
}

async function contentOf({ frame }: NestedFrame, { session }: NestedFrame): Promise<Quad> {
  const owner = await session.send('DOM.getFrameOwner', { frameId: frame.id });
  const { model } = await session.send('DOM.getBoxModel', { backendNodeId: owner.backendNodeId });
  return model.content;
}

type Point = readonly [x: number, y: number];

function corners({ x, y, width, height }: Rectangle): readonly Point[] {
  return [
    [x, y],
    [x + width, y],
    [x + width, y + height],
    [x, y + height],
  ];
}

function pointsOf([ax = 0, ay = 0, bx = 0, by = 0, cx = 0, cy = 0, dx = 0, dy = 0]: Quad): readonly Point[] {
  return [
    [ax, ay],
    [bx, by],
    [cx, cy],
    [dx, dy],
  ];
}

/** The point at these shares of a parallelogram's sides. */
function onto(
  [left = 0, top = 0, rightX = 0, rightY = 0, , , bottomX = 0, bottomY = 0]: Quad,
  right: number,
  down: number,
): Point {
  return [
    left + right * (rightX - left) + down * (bottomX - left),
    top + right * (rightY - top) + down * (bottomY - top),
  ];
}

/** The smallest rectangle around the points. */
function around(points: readonly Point[]): Rectangle {
  const xs = points.map(([x]) => x);
  const ys = points.map(([, y]) => y);
  const [x, y] = [Math.min(...xs), Math.min(...ys)];
  return { x, y, width: Math.max(...xs) - x, height: Math.max(...ys) - y };
}
