import type { Rectangle } from '../boxes/boxes.ts';
import { innerHtmlOf, type PageElement } from '../dom/dom.ts';
import type { FrameAnswer } from './after-frames.ts';
import type { PaintedCopy } from './copy-painted.ts';
import type { Painted } from './find-painted.ts';
import { type Gap, type Item, isGap, isWords, type Words } from './items.ts';
import type { ReadingLimits } from './limits.ts';
import type { UnseenText } from './visible-characters.ts';

/** The painted text of a frame of another origin. */
export interface FramedText extends FrameAnswer {
  readonly items: readonly (Gap | FramedWords)[];
  readonly html: string;
  readonly hidden: readonly UnseenText[];
  readonly unseen: number;
}

interface FramedWords extends Pick<Words<never>, 'text' | 'isPre' | 'isBlank'> {
  /** In the window of the frame; in that of the page when `isPlaced`. */
  readonly box: Rectangle | null;
  readonly isPlaced: boolean;
}

export interface FramedLimits extends ReadingLimits {
  /** Maximum number of items, and of characters of HTML. */
  readonly items: number;
  readonly html: number;
}

const MAX_HIDDEN = 200;

/** Returns what this frame tells the document around it. */
export function framedText(found: PaintedCopy, limits: FramedLimits): FramedText {
  const items = found.items.filter((item) => isGap(item) || isWords(item)).slice(0, limits.items);
  const html = innerHtmlOf(found.body).slice(0, limits.html);
  const isCut = items.length === limits.items || html.length === limits.html;
  return {
    items: items.map((item) => (isGap(item) ? item : framedWords(item))),
    html: html.toWellFormed(),
    hidden: found.hidden.slice(0, MAX_HIDDEN).map(({ technique, text }) => ({ technique, text: text.toWellFormed() })),
    unseen: found.unseen,
    partial: found.partial || isCut,
  };
}

function framedWords<Mark>({ text, isPre, isBlank, box, node }: Words<Mark>): FramedWords {
  // A text of a frame in this one has no node here. It is placed already.
  return { text: text.toWellFormed(), isPre, isBlank, box: box(), isPlaced: node === null };
}

/** Returns what takes the answer of a frame into what the document around it has painted. */
export function enterText<Mark>(
  found: Painted<Mark>,
  fill: (frame: PageElement, html: string) => void = () => {},
): (answer: FramedText, frame: PageElement) => Item<Mark>[] {
  return (answer, frame) => {
    fill(frame, answer.html);
    found.hidden.push(...answer.hidden.map((each) => ({ ...each, node: frame })));
    found.unseen += answer.unseen;
    return answer.items.map((each) => {
      if ('gap' in each) return each;
      const { box, isPlaced: _, ...words } = each;
      return { ...words, node: null, mark: null, parent: frame, box: () => box };
    });
  };
}
