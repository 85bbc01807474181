import { z } from 'zod';
import type { Output } from '../../capture/result/snapshot.ts';
import { call } from '../../page/asking/page-scripts.ts';
import type { Link, LinksOfDocument } from '../../page-scripts/painted/links.ts';
import { MAX_FRAMES, type OfFrames, readThrough } from '../documents/frames.ts';
import { imageBoxes, windowBox } from '../documents/image-boxes.ts';
import type { Reading } from '../documents/reading.ts';

const MAX_LINKS = 5_000;
const LIMITS = { nodes: 500_000, characters: 2 * 1024 * 1024, hidden: 0, frames: MAX_FRAMES, links: MAX_LINKS };
/** Time limits for finding the links of the page, and of a frame, in milliseconds. */
const MAX_MS = 3_000;
const MAX_FRAME_MS = 1_000;

const link: z.ZodType<Link> = z.object({
  href: z.string(),
  text: z.string(),
  rel: z.string(),
  internal: z.boolean(),
  box: windowBox,
  isPlaced: z.boolean(),
});

const linksOfDocument: z.ZodType<LinksOfDocument> = z.object({
  links: z.array(link).max(MAX_LINKS),
  omitted: z.number(),
  partial: z.boolean(),
});

/** Reads the links that the page has painted, with the boxes of their words and images in the screenshot. */
export async function readLinks(reading: Reading): Promise<Output> {
  const { ms, ask } = reading;
  // Links of frames are internal, too, when they lead to the page's host.
  const host = z.string().parse(await ask(call('readHost')));
  const script = readLinksOf(host, Math.min(MAX_MS, ms / 2));
  const answer = await readThrough(reading, linksOfFrames(host), script, ms);
  const { links, omitted, partial } = linksOfDocument.parse(answer);
  const toImage = await imageBoxes(reading);
  const placed = links.map(({ isPlaced: _, box, ...each }) => ({ ...each, box: toImage(box) }));
  return { content: `${JSON.stringify({ links: placed, omitted }, null, 1)}\n`, partial: partial || omitted > 0 };
}

function linksOfFrames(host: string): OfFrames<LinksOfDocument> {
  return {
    callOf: (ms) => readLinksOf(host, Math.min(MAX_FRAME_MS, ms / 2)),
    answer: linksOfDocument,
    sizeOf: ({ links }) => links.reduce((sum, { href, text, rel }) => sum + href.length + text.length + rel.length, 0),
    placed: ({ links, ...rest }, toWindow) => ({
      ...rest,
      links: links.map((each) => (each.isPlaced ? each : { ...each, box: toWindow(each.box), isPlaced: true })),
    }),
  };
}

const readLinksOf = (host: string, ms: number) => call('readLinks', { ...LIMITS, ms, host });
