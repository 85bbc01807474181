import type { PageElement } from '../dom/dom.ts';
import { kept } from '../running/kept.ts';
import type { Painted } from './find-painted.ts';
import { type Item, isOutside } from './items.ts';

/*
 * A script cannot look into frames of other origins, so a document with such frames is read in three steps:
 *
 * 1. A script (`readText`, say) finds what the document has painted, and says by `afterFrames` what it makes of it.
 *    Without painted frames of other origins, it is made at once: the answer is `{ done }`, and there are no other
 *    steps. Otherwise the world keeps the findings under a key, and the answer is `{ key }`.
 * 2. The service asks the frames, whose elements `framesOfReading` returns for that key, each by a script that may
 *    itself have to wait for frames.
 * 3. `finishReading` puts the answers where the frames are, and returns what is made of all.
 */

/** The answer of a script: what it has made of a document, or the key under which that waits for frames. */
export type Begun<Made> = { readonly done: Made } | { readonly key: number };

/** The answer of a frame of another origin. */
export interface FrameAnswer {
  readonly partial: boolean;
}

interface Reading {
  readonly elements: readonly PageElement[];
  /** Takes the answers of the frames in the order of `elements`; null for a frame without one. */
  readonly finish: (answers: readonly (FrameAnswer | null)[]) => unknown;
}

/** The readings that wait for frames, by key. A reading that is given up waits as long as its document lives. */
const readings = () => kept('readings', () => ({ lastKey: 0, waiting: new Map<number, Reading>() }));

/**
 * Calls `make` when the frames of other origins have answered, at most `maxFrames`. Then `found` has, after each frame,
 * the items that `enter` returns for its answer.
 */
export function afterFrames<Mark, Answer extends FrameAnswer, Made>(
  found: Painted<Mark>,
  maxFrames: number,
  enter: (answer: Answer, frame: PageElement) => readonly Item<Mark>[],
  make: () => Made,
): Begun<Made> {
  const all = found.items.filter(isOutside);
  if (all.length === 0) return { done: make() };
  const asked = all.slice(0, maxFrames);
  found.partial ||= all.length > asked.length;
  const { waiting } = readings();
  const key = nextKey();
  waiting.set(key, {
    elements: asked.map(({ outside }) => outside),
    finish: (answers) => {
      waiting.delete(key);
      const answerOf = new Map(asked.map((item, at) => [item as Item<Mark>, (answers[at] ?? null) as Answer | null]));
      found.items = found.items.flatMap((item) => {
        const answer = answerOf.get(item);
        if (!isOutside(item) || answer === undefined) return [item];
        found.partial ||= answer === null || answer.partial;
        return answer === null ? [item] : [item, ...enter(answer, item.outside)];
      });
      return make();
    },
  });
  return { key };
}

/** Each reading has a key of its own: one that was given up must not finish in place of the next. */
function nextKey(): number {
  readings().lastKey += 1;
  return readings().lastKey;
}

/** Returns the elements of the frames that a reading waits for. */
export const framesOfReading = (key: number): readonly PageElement[] => readings().waiting.get(key)?.elements ?? [];

/** Returns what a reading has made with the answers of its frames. */
export const finishReading = (key: number, answers: readonly (FrameAnswer | null)[]): unknown =>
  readings().waiting.get(key)?.finish(answers);
