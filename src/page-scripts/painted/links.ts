import { around, type Rectangle } from '../boxes/boxes.ts';
import { attribute, type PageElement, textOf } from '../dom/dom.ts';
import { resolved } from '../dom/urls.ts';
import type { FrameAnswer } from './after-frames.ts';
import { type Item, isGap, isMarked, isWords } from './items.ts';
import type { ReadingLimits } from './limits.ts';

/** Elements that a link may hold in place of words. */
const PICTURE = /^(?:img|svg|picture|canvas|video|input|button)$/;
const MAX_TEXT_CHARACTERS = 1_000;
const MAX_URL_CHARACTERS = 2_048;
const MAX_REL_CHARACTERS = 256;
/** Maximum number of boxes of one link. */
const MAX_BOXES = 1_000;
/** Maximum number of characters of all links, as JSON has them. */
const MAX_CHARACTERS = 2 * 1024 * 1024;

export interface LinkLimits extends ReadingLimits {
  readonly links: number;
  /** The host of the page, which may be that around a frame: links to it are internal. */
  readonly host: string;
}

export interface Link {
  readonly href: string;
  readonly text: string;
  readonly rel: string;
  readonly internal: boolean;
  /** In the window of the frame; in that of the page when `isPlaced`. */
  readonly box: Rectangle | null;
  readonly isPlaced: boolean;
}

export interface LinksOfDocument extends FrameAnswer {
  readonly links: readonly Link[];
  /** Number of links that were left out. */
  readonly omitted: number;
}

/** A painted link, whose words and boxes are collected; or one of a frame, as the frame has told it. */
export type LinkMark = OwnLink | { readonly ofFrame: Link };

interface OwnLink extends Pick<Link, 'href' | 'rel' | 'internal'> {
  readonly element: PageElement;
  /** Whether it has no words, so that its own box is its place. */
  readonly isEmpty: boolean;
  readonly texts: string[];
  readonly boxes: Rectangle[];
}

/** Returns the mark of a link, and, for an element in a link that can be seen in place of words, that of the link. */
export function markOfLink(element: PageElement, name: string, outer: LinkMark | null, host: string) {
  if (PICTURE.test(name)) return outer ?? undefined;
  if (name !== 'a' && name !== 'area') return undefined;
  const written = attribute(element, 'href') ?? attribute(element, 'xlink:href');
  if (written === null) return undefined;
  const url = resolved(written, element);
  return {
    element,
    href: bounded(url?.href ?? written, MAX_URL_CHARACTERS),
    rel: bounded(attribute(element, 'rel') ?? '', MAX_REL_CHARACTERS),
    internal: url !== null && /^https?:$/.test(url.protocol) && url.host === host,
    isEmpty: textOf(element).trim() === '',
    texts: [],
    boxes: [],
  };
}

/** Returns the items that stand for the links of a frame. */
export const enterLinks = ({ links }: LinksOfDocument, frame: PageElement): Item<LinkMark>[] =>
  links.map((ofFrame) => ({ element: frame, mark: { ofFrame }, parent: frame, box: () => null }));

/**
 * Returns the painted links in reading order. A link without text counts as painted when an image in it, or its own
 * box, can be seen.
 */
export function linksIn(
  items: readonly Item<LinkMark>[],
  { links: max }: LinkLimits,
): Omit<LinksOfDocument, 'partial'> {
  const all = paintedLinks(items).map(linkOf);
  let [room, count] = [MAX_CHARACTERS, 0];
  for (const { href, text, rel } of all.slice(0, max)) {
    room -= JSON.stringify([href, text, rel]).length;
    if (room < 0) break;
    count += 1;
  }
  return { links: all.slice(0, count), omitted: all.length - count };
}

function paintedLinks(items: readonly Item<LinkMark>[]): LinkMark[] {
  const links = new Set<LinkMark>();
  let last: OwnLink | null = null;
  for (const item of items) {
    if (isGap(item)) {
      last?.texts.push(' ');
      continue;
    }
    const link: LinkMark | null = item.mark;
    if (link === null) continue;
    if ('ofFrame' in link) {
      links.add(link);
      continue;
    }
    if (isWords(item)) link.texts.push(item.text);
    if (isWords(item) && item.isBlank) continue;
    // The box of a link says nothing about its words.
    if (isMarked(item) && item.element === link.element && !link.isEmpty) continue;
    links.add(link);
    last = link;
    const box = item.box();
    if (box !== null) link.boxes.push(box);
  }
  return [...links];
}

function linkOf(link: LinkMark): Link {
  if ('ofFrame' in link) return link.ofFrame;
  const { href, rel, internal, texts, boxes } = link;
  const text = bounded(texts.join('').replace(/\s+/g, ' ').trim(), MAX_TEXT_CHARACTERS);
  return { href, text, rel, internal, box: around(boxes.slice(0, MAX_BOXES)), isPlaced: false };
}

const bounded = (text: string, max: number): string => text.slice(0, max).toWellFormed();
