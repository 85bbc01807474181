import { inWindow } from '../boxes/in-window.ts';
import {
  above,
  attribute,
  bodyOf,
  boxOf,
  classOf,
  closest,
  interfaceOf,
  isComplete,
  matches,
  naturalWidthOf,
  type PageElement,
  page,
  rootElementOf,
  select,
  srcOf,
  textOf,
} from '../dom/dom.ts';
import { web } from '../dom/web.ts';
import { isUndrawn } from '../work/signs.ts';
import { inAny, MAX_ELEMENTS, overlaysOf } from './overlays.ts';
import { isReachable, type SeenText, TextReader } from './seen-texts.ts';
import { type Software, softwareOf } from './software.ts';

/** Characters of visible text after which a page is not read further: with so many, only an overlay is a wall. */
const MAX_CHARACTERS = 1_600;
/** This limit for a page that says that it is not free: its paywall may follow the beginning of an article. */
const MAX_PAID_CHARACTERS = 6_000;
/** A page with fewer characters is searched for skeletons and spinners. */
const MESSAGE_CHARACTERS = 1_500;
/** A page with fewer characters is examined for text in the colour of its background. */
const FEW_CHARACTERS = 500;
const MAX_HEADING_CHARACTERS = 300;
const MAX_NAMES_CHARACTERS = 4_000;
const MAX_URL_CHARACTERS = 1_000;
const MAX_DATA_CHARACTERS = 20_000;
/** Share of the window from which on overlays may be a wall. */
const WALL_SHARE = 0.5;
/** Minimum length of the sides of a picture, in CSS pixels. */
const MIN_PICTURE_SIDE = 8;

const SKELETONS = [
  '[class*="skeleton" i]',
  '[class*="shimmer" i]',
  '[class*="placeholder-glow"]',
  '[class*="placeholder-wave"]',
  '[class*="animate-pulse"]',
  '[class*="ghost-" i]',
  '[class*="content-loader" i]',
  '[class*="placeholder" i]:empty',
].join(', ');
const SPINNERS = [
  '[role="progressbar"]',
  '[aria-busy="true"]',
  'progress',
  '[class*="spinner" i]',
  '[class*="loader" i]',
  '[class*="loading" i]',
  '[class*="lds-"]',
  '[class*="progress-bar" i]',
  '[class*="progressbar" i]',
].join(', ');

/** Content that a page shows, as far as a verdict needs it. Texts are the page's own and are never passed on. */
export interface Signs {
  /** The text that is seen, from the top, with single spaces. */
  readonly text: string;
  readonly headings: string;
  /** Number of images, drawings, videos and backgrounds that are seen. */
  readonly graphics: number;
  /** Overlays cover so much of the window that they may be a wall. */
  readonly isOverlaid: boolean;
  /** Share of the window that skeletons cover, 0 to 1. */
  readonly skeletons: number;
  /** Elements over the content: their text, their ids and classes, and the URLs of frames in them. */
  readonly overlay: {
    readonly text: string;
    readonly names: string;
    readonly frames: readonly string[];
    readonly password: boolean;
  };
  /** Characters of the text that are outside overlays. */
  readonly behind: number;
  /** URLs of frames that are seen, and of scripts. */
  readonly frames: readonly string[];
  readonly scripts: readonly string[];
  /** Ids and classes that are seen and that products of walls, gates, parked domains and loading pages use. */
  readonly names: string;
  readonly spinners: number;
  readonly fields: number;
  readonly password: boolean;
  readonly links: number;
  /** The page says in structured data that it is not free. */
  readonly isPaid: boolean;
  readonly software: Software;
}

/**
 * Reads what a verdict is based on, from a bounded part of the page, so that it takes no longer in a large page than in
 * a small one. Null for a document without elements, or whose elements are nested deeper than the stack is high.
 */
export function readSigns(): Signs | null {
  try {
    return signsOfDocument();
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}

function signsOfDocument(): Signs | null {
  const root = rootElementOf(page);
  if (root === null) return null;
  const body = bodyOf(page) ?? root;
  const { overlays, share } = overlaysOf(root, body);
  const isOverlaid = share >= WALL_SHARE;
  const isOver = inAny(overlays);
  const isPaid = find('script[type="application/ld+json"]').some((script) =>
    /"isAccessibleForFree"\s*:\s*"?false/i.test((textOf(script) ?? '').slice(0, MAX_DATA_CHARACTERS)),
  );
  const reader = new TextReader(isPaid ? MAX_PAID_CHARACTERS : MAX_CHARACTERS, MESSAGE_CHARACTERS);
  const over = reader.read(overlays);
  const { texts, total, isLong } = reader.readApart(body);
  const outside = overlays.size === 0 ? texts : texts.filter(({ parent }) => !isOver(parent));
  const shown = [...over, ...outside];
  const legible = total < FEW_CHARACTERS ? shown.filter(({ parent }) => isLegible(parent)) : shown;
  const text = joined(legible);
  const isMessage = text.length < MESSAGE_CHARACTERS;

  const frames = find('iframe, frame').filter(isReachable);
  const inputs =
    isLong && !isOverlaid
      ? []
      : find('input:not([type=hidden], [type=submit], [type=button]), textarea').filter(isReachable);
  const headings = () => legible.filter(({ parent }) => closest(parent, 'h1, h2, [role=heading]') !== null);
  return {
    text,
    headings: isMessage ? joined(headings()).slice(0, MAX_HEADING_CHARACTERS) : '',
    graphics: isMessage ? graphicsOf(text) : 0,
    isOverlaid,
    overlay: {
      text: joined(over),
      names: [...overlays].map(namesOf).join(' ').slice(0, MAX_NAMES_CHARACTERS).toWellFormed(),
      frames: frames.filter(isOver).map(sourceOf),
      password: inputs.some((input) => isPassword(input) && isOver(input)),
    },
    behind: outside.reduce((sum, each) => sum + each.text.length, 0),
    frames: frames.map(sourceOf),
    scripts: isMessage ? find('script[src]').map(sourceOf) : [],
    names: bearersOf(isLong ? over : legible)
      .map(namesOf)
      .join(' ')
      .replace(/\s+/g, ' ')
      .slice(0, MAX_NAMES_CHARACTERS)
      .toWellFormed(),
    skeletons: isMessage ? shareOfWindow(find(SKELETONS).filter(isReachable)) : 0,
    spinners: isMessage ? find(SPINNERS).filter((each) => isReachable(each) && !isUndrawn(each)).length : 0,
    fields: inputs.length,
    password: inputs.some(isPassword),
    links: isMessage ? find('a[href]').filter(isReachable).length : 0,
    isPaid,
    software: softwareOf(),
  };
}

const find = (selector: string): PageElement[] => select(page, selector).slice(0, MAX_ELEMENTS);

const sourceOf = (element: PageElement): string => srcOf(element).slice(0, MAX_URL_CHARACTERS);

const namesOf = (element: PageElement): string => `${attribute(element, 'id') ?? ''} ${classOf(element)}`;

const isPassword = (input: PageElement): boolean => matches(input, '[type=password]');

const joined = (texts: readonly SeenText[]): string =>
  texts
    .map(({ text }) => text)
    .join(' ')
    .slice(0, MAX_PAID_CHARACTERS)
    .toWellFormed();

/** Whether the text of an element has another colour than what is behind it. */
function isLegible(element: PageElement): boolean {
  const { color } = web.getComputedStyle(element);
  for (let each: PageElement | null = element; each !== null; each = above(each)) {
    const { backgroundColor, backgroundImage } = web.getComputedStyle(each);
    if (backgroundImage !== 'none') return true;
    if (backgroundColor !== 'rgba(0, 0, 0, 0)') return backgroundColor !== color;
  }
  return color !== 'rgb(255, 255, 255)';
}

/** The number of pictures that are seen; without any, and without text, that of backgrounds. */
function graphicsOf(text: string): number {
  const pictures = find('img, svg, canvas, video, object, embed').filter(
    (each) => isReachable(each) && isPicture(each),
  );
  if (pictures.length > 0 || text !== '') return pictures.length;
  return find('*').filter((each) => web.getComputedStyle(each).backgroundImage !== 'none' && isReachable(each)).length;
}

function isPicture(element: PageElement): boolean {
  const { width, height } = boxOf(element);
  if (width < MIN_PICTURE_SIDE || height < MIN_PICTURE_SIDE) return false;
  return interfaceOf(element) !== 'HTMLImageElement' || (isComplete(element) && naturalWidthOf(element) > 1);
}

/** The elements around texts, each once. */
function bearersOf(texts: readonly SeenText[]): PageElement[] {
  const bearers = new Set<PageElement>();
  for (const { parent } of texts) {
    for (let each: PageElement | null = parent; each !== null && !bearers.has(each); each = above(each)) {
      bearers.add(each);
    }
  }
  return [...bearers];
}

function shareOfWindow(elements: readonly PageElement[]): number {
  let area = 0;
  for (const element of elements) {
    const { width, height } = inWindow(boxOf(element));
    area += width * height;
  }
  return Math.min(1, area / (web.innerWidth * web.innerHeight));
}
