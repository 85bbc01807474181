import type { SelectorStep } from '../../capture/comparison/selector.ts';
import { firstBy } from '../dom/find.ts';
import { reduceToMainContent } from '../main-content/main-content.ts';
import { type BlockPlace, findBlocks } from '../markdown/find-blocks.ts';
import { type Block, writeBlocks } from '../markdown/write-blocks.ts';
import { afterFrames, type Begun } from '../painted/after-frames.ts';
import { copyPainted } from '../painted/copy-painted.ts';
import { enterText } from '../painted/framed-text.ts';
import type { ReadingLimits } from '../painted/limits.ts';
import type { UnseenText } from '../painted/visible-characters.ts';

interface MarkdownLimits extends ReadingLimits {
  readonly blocks: number;
  readonly hiddenTexts: number;
  /** Number of characters between two blocks. */
  readonly between: number;
}

/** The main content of the page, the whole page, or the first element that a selector finds; null finds none. */
type Wanted = 'main' | 'page' | { readonly steps: readonly SelectorStep[] } | null;

interface Markdown {
  readonly blocks: readonly (Pick<Block, 'markdown'> & BlockPlace)[];
  readonly hidden: { readonly count: number; readonly texts: readonly UnseenText[] };
  readonly partial: boolean;
}

/** Reads what the page has painted, as blocks of Markdown. */
export function readMarkdown(limits: MarkdownLimits, wanted: Wanted): Begun<Markdown> {
  const part = partOf(wanted);
  const found = copyPainted(limits, part);
  return afterFrames(found, limits.frames, enterText(found, found.fill), () => {
    if (wanted === 'main') reduceToMainContent(found.copy, found.body);
    const written = writeBlocks(found.body);
    const kept = fitting(written, limits);
    const places = findBlocks(kept, found.items);
    const isCut = part === null || kept.length < written.length;
    return {
      blocks: kept.map(({ markdown }, at) => ({
        markdown: markdown.toWellFormed(),
        ...(places[at] ?? { box: null, selector: null }),
      })),
      hidden: {
        count: found.unseen,
        texts: found.hidden
          .slice(0, limits.hiddenTexts)
          .map(({ technique, text }) => ({ technique, text: text.toWellFormed() })),
      },
      partial: found.partial || isCut,
    };
  });
}

/** Undefined when no part is wanted; null when there is none. */
function partOf(wanted: Wanted) {
  if (wanted === 'main' || wanted === 'page') return undefined;
  return wanted && firstBy(wanted.steps);
}

function fitting(blocks: readonly Block[], limits: MarkdownLimits): Block[] {
  const kept: Block[] = [];
  let room = limits.characters;
  for (const block of blocks) {
    room -= block.markdown.length + limits.between;
    if (room < 0 || kept.length === limits.blocks) break;
    kept.push(block);
  }
  return kept;
}
