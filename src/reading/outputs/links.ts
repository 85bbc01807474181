import { z } from 'zod';
import type { Output } from '../../capture/snapshot.ts';
import { BEGIN, type OfFrames, readThrough } from './frames.ts';
import { imageBoxes, windowBox } from './image-boxes.ts';
import { NODES } from './nodes.ts';
import { AROUND, PAINTED, type PaintedLimits } from './painted.ts';
import type { Reading } from './reading.ts';

const LIMITS: PaintedLimits = { nodes: 500_000, characters: 2 * 1024 * 1024, hidden: 0, ms: 3_000 };
/** Time limit for finding the links of a frame, in milliseconds. */
const MAX_FRAME_MS = 1_000;
const MAX_LINKS = 5_000;
const MAX_TEXT_CHARACTERS = 1_000;
const MAX_URL_CHARACTERS = 2_048;
const MAX_REL_CHARACTERS = 256;
/** Maximum number of characters of all links. */
const MAX_CHARACTERS = 2 * 1024 * 1024;

/** A link, and where it is: in its window, or, of a frame, in the page's. */
const link = z.object({
  href: z.string(),
  text: z.string(),
  rel: z.string(),
  internal: z.boolean(),
  box: windowBox.optional(),
  at: windowBox.optional(),
});

const found = z.object({ links: z.array(link).max(MAX_LINKS), omitted: z.number(), partial: z.boolean() });
type Found = z.output<typeof found>;

/** Reads the links that the page has painted, with the boxes of their words and images in the screenshot. */
export async function readLinks(reading: Reading): Promise<Output> {
  const { ms, ask } = reading;
  // Links of frames are internal, too, when they lead to the page's host.
  const host = z.string().parse(await ask('location.host'));
  const answer = await readThrough(reading, linksOfFrames(host), expressionOf(host, Math.min(LIMITS.ms, ms / 2)), ms);
  const { links, omitted, partial } = found.parse(answer);
  const toImage = await imageBoxes(reading);
  const placed = links.map(({ box = null, at = box, ...each }) => ({ ...each, box: toImage(at) }));
  return { content: `${JSON.stringify({ links: placed, omitted }, null, 1)}\n`, partial: partial || omitted > 0 };
}

function linksOfFrames(host: string): OfFrames<Found> {
  return {
    expression: (ms) => expressionOf(host, Math.min(MAX_FRAME_MS, ms / 2)),
    answer: found,
    sizeOf: ({ links }) => links.reduce((sum, { href, text, rel }) => sum + href.length + text.length + rel.length, 0),
    placed: ({ links, ...rest }, toWindow) => ({
      ...rest,
      links: links.map(({ box, ...each }) => (box === undefined ? each : { ...each, at: toWindow(box) })),
    }),
  };
}

function expressionOf(host: string, ms: number): string {
  return `(${LINKS})(${JSON.stringify({ ...LIMITS, ms, host })})`;
}

/** Runs in the page. A link without text counts as painted when an image in it, or its own box, can be seen. */
const LINKS = `(limits) => {
  const { attribute, baseOf, textOf } = ${NODES};
  const bounded = (text, most) => text.slice(0, most).toWellFormed();
  const linkOf = (element, name, outer) => {
    if (/^(?:img|svg|picture|canvas|video|input|button)$/.test(name)) return outer ?? undefined;
    if (name !== 'a' && name !== 'area') return undefined;
    const href = attribute(element, 'href') ?? attribute(element, 'xlink:href');
    if (href === null) return undefined;
    const base = baseOf(element);
    const url = URL.canParse(href, base) ? new URL(href, base) : null;
    return {
      element,
      href: bounded(url === null ? href : url.href, ${MAX_URL_CHARACTERS}),
      rel: bounded(attribute(element, 'rel') ?? '', ${MAX_REL_CHARACTERS}),
      internal: url !== null && /^https?:$/.test(url.protocol) && url.host === limits.host,
      isEmpty: textOf(element).trim() === '',
      texts: [],
      boxes: [],
    };
  };
  const around = ${AROUND};
  const finish = ({ items, partial }) => {
    const links = new Set();
    let last = null;
    for (const item of items) {
      if (item.framed !== undefined) {
        links.add(item);
        continue;
      }
      const link = item.mark;
      if (item.gap !== undefined && last !== null) last.texts.push(' ');
      if (!link) continue;
      if (item.isBlank) {
        link.texts.push(' ');
        continue;
      }
      const { element } = item;
      if (element === undefined) link.texts.push(item.text);
      // The box of a link says nothing about its words.
      else if (element === link.element && !link.isEmpty) continue;
      links.add(link);
      last = link;
      const box = item.box();
      if (box !== null) link.boxes.push(box);
    }
    const all = [...links].map(({ framed, href, rel, internal, texts, boxes }) => {
      if (framed !== undefined) return framed;
      const text = bounded(texts.join('').replace(/\\s+/g, ' ').trim(), ${MAX_TEXT_CHARACTERS});
      return { href, text, rel, internal, box: around(boxes.slice(0, 1000)) };
    });
    let [room, kept] = [${MAX_CHARACTERS}, 0];
    for (; kept < all.length && kept < ${MAX_LINKS}; kept += 1) {
      room -= all[kept].href.length + all[kept].text.length + all[kept].rel.length;
      if (room < 0) break;
    }
    return { links: all.slice(0, kept), omitted: omitted + all.length - kept, partial };
  };
  let omitted = 0;
  const enter = (frame) => {
    omitted += frame.omitted;
    return frame.links.map((framed) => ({ framed }));
  };
  return (${BEGIN})((${PAINTED})(limits, linkOf), finish, enter);
}`;
