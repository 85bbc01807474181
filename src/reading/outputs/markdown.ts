import { z } from 'zod';
import type { Output } from '../../capture/result/snapshot.ts';
import { call } from '../../page/asking/page-scripts.ts';
import { toPage } from '../../page/find/box-in-page.ts';
import { firstDocumentWith, type SearchedDocument } from '../../page/find/documents.ts';
import type { IsolatedPage } from '../../page/isolated-page.ts';
import { TEXTS } from '../documents/framed-text.ts';
import { MAX_FRAMES, readThrough } from '../documents/frames.ts';
import { imageBoxes, windowBox } from '../documents/image-boxes.ts';
import type { Reading } from '../documents/reading.ts';
import { readText } from './text.ts';

/** Maximum time in milliseconds: for some pages of 11 kB the libraries would need minutes. */
const MAX_EXTRACTION_MS = 5_000;
/** Its share of the time for the output; the rest is for reading the plain text. */
const EXTRACTION_SHARE = 0.6;
const BETWEEN = '\n\n';
const LIMITS = {
  nodes: 500_000,
  characters: 2 * 1024 * 1024,
  hidden: 64 * 1024,
  ms: 2_000,
  frames: MAX_FRAMES,
  blocks: 10_000,
  hiddenTexts: 1_000,
  between: BETWEEN.length,
};

const read = z.object({
  blocks: z.array(z.object({ markdown: z.string(), box: windowBox, selector: z.string().nullable() })),
  hidden: z.object({
    count: z.number(),
    texts: z.array(z.object({ technique: z.string(), text: z.string() })),
  }),
  partial: z.boolean(),
});

/** The words that were read, and the document, when a selector has named it. */
interface ReadMarkdown extends z.output<typeof read> {
  readonly document: SearchedDocument | undefined;
}

/** The blocks of pages whose Markdown was read: the outputs `markdown` and `blocks` share them. */
const readings = new WeakMap<IsolatedPage, Promise<ReadMarkdown | null>>();

/**
 * Reads the main content that the page has painted, as Markdown. When the browser ends the extraction, or the page
 * makes it fail, the answer is the page's plain text, marked as partial.
 */
export async function readMarkdown(reading: Reading): Promise<Output> {
  const found = await readOnce(reading);
  if (found === null) {
    const { content } = await readText({ ...reading, ms: reading.ms * (1 - EXTRACTION_SHARE) });
    return { content, partial: true };
  }
  const text = found.blocks.map(({ markdown }) => markdown).join(BETWEEN);
  return { content: text === '' ? '' : `${text}\n`, partial: found.partial };
}

/**
 * Returns the blocks of the Markdown: their ranges in it, in UTF-16 code units, and their boxes in the image; and how
 * many texts the page holds that were not painted, with the texts themselves when the request asks for them.
 */
export async function readBlocks(reading: Reading): Promise<Output> {
  const found = await readOnce(reading);
  if (found === null) return { content: json({ blocks: [], hidden: { count: 0 } }), partial: true };
  const toImage = await imageBoxes(reading);
  const toWindow = found.document === undefined ? undefined : await toPage(found.document);
  const placeOf = (box: z.output<typeof windowBox>) =>
    toImage(box === null || found.document === undefined ? box : (toWindow?.(box) ?? null));
  let start = 0;
  const blocks = found.blocks.map(({ markdown, box, selector }) => {
    const range = { start, end: start + markdown.length };
    start = range.end + BETWEEN.length;
    return { ...range, box: placeOf(box), selector };
  });
  const { count, texts } = found.hidden;
  const hidden = reading.request.markdown?.hidden === true ? { count, texts } : { count };
  return { content: json({ blocks, hidden }), partial: found.partial };
}

function json(value: unknown): string {
  return `${JSON.stringify(value, null, 1)}\n`;
}

function readOnce(reading: Reading): Promise<ReadMarkdown | null> {
  const { page } = reading;
  const under = readings.get(page) ?? readPage(reading);
  readings.set(page, under);
  return under;
}

async function readPage(reading: Reading): Promise<ReadMarkdown | null> {
  const { page, ms, request, deadline } = reading;
  const { scope = 'main', selector } = request.markdown ?? {};
  const max = Math.min(ms * EXTRACTION_SHARE, MAX_EXTRACTION_MS);
  const document = selector === undefined ? undefined : await firstDocumentWith(page, selector, deadline, max);
  const wanted = selector === undefined ? scope : document === undefined ? null : { steps: document.steps };
  const script = call('readMarkdown', LIMITS, wanted);
  const inside = document === undefined ? {} : { document };
  const answer = await readThrough(reading, TEXTS, script, max, inside).catch(() => undefined);
  const { data } = read.safeParse(answer);
  return data === undefined ? null : { ...data, document };
}
