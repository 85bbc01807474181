import { z } from 'zod';
import { within } from '../../capture/deadline.ts';
import { type Call, call } from '../../page/asking/page-scripts.ts';
import { type ToPage, toPage } from '../../page/find/box-in-page.ts';
import { frameIds, type NestedFrame } from '../../page/find/documents.ts';
import type { IsolatedPage } from '../../page/isolated-page.ts';
import type { Begun, FrameAnswer } from '../../page-scripts/painted/after-frames.ts';
import type { windowBox } from './image-boxes.ts';
import type { Reading } from './reading.ts';

/*
 * How outputs read frames (`readFrames`). The script that reads a document cannot look into frames of other origins: it
 * keeps its findings, each frame is asked in an isolated world, and another script finishes with the answers
 * (`readThrough`; the side of the page is `src/page-scripts/painted/after-frames.ts`).
 */

/** Maximum number of frames of one page, and of frames around a frame, that are read. */
export const MAX_FRAMES = 50;
const MAX_DEPTH = 5;
/** Maximum number of characters of the answers of all frames. */
const MAX_CHARACTERS = 1024 * 1024;
/** Minimum time in milliseconds for a document to go on with the answers of its frames. */
const MIN_FINISH_MS = 1_500;
/** Share of the time left for a document in which its frames answer. */
const SHARE = 0.6;
/** Time limit for the frames of a document in milliseconds: a script may block one for good. */
const MAX_FRAME_MS = 2_000;

const beginning: z.ZodType<Begun<unknown>> = z.union([z.object({ key: z.number() }), z.object({ done: z.unknown() })]);

type Box = z.output<typeof windowBox>;

/** How an output reads a frame of another origin. */
export interface OfFrames<Found extends FrameAnswer> {
  /** Returns the call of the script that reads a frame in at most this time. */
  readonly callOf: (ms: number) => Call<Begun<Found>>;
  readonly answer: z.ZodType<Found>;
  /** Returns the number of characters of an answer. */
  readonly sizeOf: (found: Found) => number;
  /** Turns the boxes of an answer into boxes of the page. */
  readonly placed: (found: Found, toWindow: (box: Box) => Box) => Found;
}

/** How many more frames of a page an output may read, and how many more characters they may answer with. */
export interface Room {
  frames: number;
  characters: number;
}

export const roomForFrames = (): Room => ({ frames: MAX_FRAMES, characters: MAX_CHARACTERS });

/** A document whose frames are read, the number of frames around it, and its time in milliseconds. */
interface Around {
  readonly page: IsolatedPage;
  readonly from: NestedFrame;
  readonly depth: number;
  readonly room: Room;
  readonly ms: number;
}

/**
 * Reads the frames of a document at once. Resolves with what `read` answers for each id that `find` finds, or null for
 * a frame that has no document, does not answer in time, or exceeds the limit.
 */
export async function readFrames<Found>(
  { page, from, depth, room, ms }: Around,
  find: () => Promise<readonly (string | undefined)[]>,
  read: (inner: NestedFrame, ms: number) => Promise<Found | null>,
): Promise<readonly (Found | null)[]> {
  if (depth >= MAX_DEPTH) return [];
  const startedAt = performance.now();
  const ids = await within(
    ms * SHARE,
    find().catch(() => []),
    [],
  );
  const frameMs = Math.min((ms - (performance.now() - startedAt)) * SHARE, MAX_FRAME_MS);
  const asking = ids.map(async (id) => {
    room.frames -= 1;
    if (id === undefined || room.frames < 0) return null;
    const session = page.frames.outOfProcess.get(id) ?? from.session;
    const answer = read({ session, frame: { id }, entrance: { from } }, frameMs);
    return await within(
      frameMs,
      answer.catch(() => null),
      null,
    );
  });
  return await Promise.all(asking);
}

/** The document that is read, and what all frames share: how much may still be read, and whether boxes are wanted. */
interface Inside {
  readonly document?: NestedFrame;
  readonly depth?: number;
  readonly shared?: Room & { readonly hasBoxes: boolean };
}

/**
 * Reads a document by a script that calls `afterFrames`, lets its frames of other origins answer, and returns what the
 * script makes of it. A frame that does not answer in time is left out.
 */
export async function readThrough<Found extends FrameAnswer>(
  reading: Reading,
  inside: OfFrames<Found>,
  script: Call<Begun<unknown>>,
  ms: number,
  { document, depth = 0, shared }: Inside = {},
): Promise<unknown> {
  const { page, ask, world } = reading;
  // The boxes of a document that a selector has entered are those of its own window.
  const room = shared ?? { ...roomForFrames(), hasBoxes: document === undefined };
  const startedAt = performance.now();
  const begun = beginning.parse(await ask(script, ms, document));
  if ('done' in begun) return begun.done;
  const { key } = begun;
  const from: NestedFrame = document ?? { session: page.session, frame: page.frame, entrance: undefined };
  const left = () => Math.max(1, ms - (performance.now() - startedAt));
  const answers = await readFrames<Found>(
    { page, from, depth, room, ms: left() },
    () => frameIds(from, call('framesOfReading', key), { world }),
    async (inner, frameMs) => {
      const nested = { document: inner, depth: depth + 1, shared: room };
      const found = inside.answer.parse(await readThrough(reading, inside, inside.callOf(frameMs), frameMs, nested));
      room.characters -= inside.sizeOf(found);
      if (room.characters < 0) return null;
      const toWindow: ToPage | undefined = room.hasBoxes ? await toPage(inner) : undefined;
      return inside.placed(found, (box) => (box === null ? null : (toWindow?.(box) ?? null)));
    },
  );
  return await ask(call('finishReading', key, answers), Math.max(MIN_FINISH_MS, left()), document);
}
