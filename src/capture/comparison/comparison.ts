import { z } from 'zod';
import { count, id, orOf } from '../basics/values.ts';
import { REQUEST_LIMITS } from '../request-limits.ts';
import { VERDICTS } from '../result/verdict.ts';
import { MAX_LIST_CHARACTERS, problemsOfSelectors } from './element-selector.ts';
import { MAX_SELECTOR_CHARACTERS } from './selector.ts';

/** Maximum number of pixels of each image of a comparison: 1,280 by 26,214. Both take 8 bytes a pixel in memory. */
export const MAX_COMPARED_PIXELS = REQUEST_LIMITS.comparedPixels.max;
/** Maximum number of regions in an answer. */
export const MAX_REGIONS = 500;
/** Maximum number of characters of the lines that differ. */
export const MAX_DIFF_CHARACTERS = 50_000;
/** Maximum number of links that were added, and of those that were removed. */
export const MAX_DIFFERENT_LINKS = 200;
/** Maximum number of changed elements in an answer. */
export const MAX_CHANGED_ELEMENTS = 200;
/** Maximum number of elements around the regions of a comparison: they are handed to the event loop. */
export const MAX_PLACES = 200;
/** Maximum number of elements of `ignore`. */
export const MAX_IGNORED = 50;

const REGION_KINDS = ['inserted', 'removed', 'moved', 'edited'] as const;
export type RegionKind = (typeof REGION_KINDS)[number];

export const BoxSchema = z.strictObject({ x: count, y: count, width: count, height: count });
/** A rectangle of an image, in its pixels. */
export type Box = z.output<typeof BoxSchema>;

/** Differences that do not count in a comparison. */
export interface Ignore {
  readonly kinds: readonly RegionKind[];
  /** Places in the image of `a` and in that of `b`. */
  readonly rectangles: readonly Box[];
  /** Parts of lines; `*` stands for any characters. */
  readonly texts: readonly string[];
  /** Elements of both pages, with everything inside them. */
  readonly selectors: readonly string[];
}
export const NOTHING_IGNORED: Ignore = { kinds: [], rectangles: [], texts: [], selectors: [] };

/** Maximum number of characters of an element of `ignore`: of a selector with its prefix. */
export const MAX_IGNORED_CHARACTERS = 'selector:'.length + MAX_SELECTOR_CHARACTERS;
const RECTANGLE = /^(\d{1,9}),(\d{1,9}),(\d{1,9}),(\d{1,9})$/;
const IGNORABLE = `a kind (${orOf(REGION_KINDS)}), a rectangle x,y,width,height in pixels, a text such as text:Updated *, or elements such as selector:.clock`;
const TEXT = /^text:(.*\S.*)$/;
const SELECTOR = /^selector:(.*\S.*)$/s;

/** `ignore` as callers write it: `["moved", "0,0,1280,40"]`. */
export const ignoreField = z
  .array(z.string().max(MAX_IGNORED_CHARACTERS, { error: `must have at most ${MAX_IGNORED_CHARACTERS} characters` }))
  .max(MAX_IGNORED, { error: `must have at most ${MAX_IGNORED} elements` })
  .optional()
  .transform((texts = [], context): Ignore => {
    const kinds: RegionKind[] = [];
    const rectangles: Box[] = [];
    const patterns: string[] = [];
    const selectors: string[] = [];
    for (const text of texts) {
      const kind = REGION_KINDS.find((name) => name === text);
      const [x, y, width, height] = (RECTANGLE.exec(text) ?? []).slice(1).map(Number);
      const [, pattern] = TEXT.exec(text) ?? [];
      const [, selector] = SELECTOR.exec(text) ?? [];
      if (kind !== undefined) kinds.push(kind);
      else if (pattern !== undefined) patterns.push(pattern);
      else if (selector !== undefined) selectors.push(selector);
      else if (x !== undefined && y !== undefined && width !== undefined && height !== undefined) {
        rectangles.push({ x, y, width, height });
      } else {
        context.addIssue({
          code: 'custom',
          message: `must be ${IGNORABLE}, not ${JSON.stringify(text.slice(0, 100))}`,
        });
      }
    }
    for (const message of problemsOfSelectors(selectors)) context.addIssue({ code: 'custom', message });
    return { kinds, rectangles, texts: patterns, selectors };
  });

/** Description of the values of `ignore`. */
export const IGNORE_DESCRIPTION = `What does not count: ${IGNORABLE}. Pixels of a rectangle count neither in \`a\` nor in \`b\`. Texts are taken out of lines and titles; \`*\` stands for any characters, at the end for the rest of the line. A line with nothing left is left out. Elements are found in the element maps of both captures, in frames by \`>>\`, and are left out with everything inside them. At most ${MAX_IGNORED}, of at most ${MAX_IGNORED_CHARACTERS} characters each; their selectors have at most ${MAX_LIST_CHARACTERS} together.`;

export const RegionSchema = z.strictObject({
  kind: z.enum(REGION_KINDS),
  from: BoxSchema.nullable().meta({ description: 'Its place in `a`; null when it was inserted.' }),
  to: BoxSchema.nullable().meta({ description: 'Its place in `b`; null when it was removed.' }),
  pixels: count.meta({
    description: 'Changed pixels: of an edited region those that differ, of a moved one none, else its area.',
  }),
});
export type Region = z.output<typeof RegionSchema>;

/** The smallest element around a region. */
export interface Place {
  /** Equal for the same element in other captures of the page. */
  readonly key: number;
  /** Matches the element alone: in `b`, or in `a` when the region was removed. */
  readonly selector: string;
  readonly tag: string;
  readonly box: Box;
  /** Whether its names, or those of an element around it, say that it is an advertisement. */
  readonly isAd: boolean;
  readonly around: { readonly selector: string; readonly box: Box } | null;
  /** Keys of the nearest elements around it, from the inside out. */
  readonly within: readonly number[];
}

const VisualDifferenceSchema = z.strictObject({
  regions: z.array(RegionSchema).meta({
    description: `At most ${MAX_REGIONS}, from top to bottom in \`b\`; in \`a\` for removed ones.`,
  }),
  truncated: z
    .boolean()
    .meta({ description: `There are more than ${MAX_REGIONS} regions; the first ones are listed.` }),
  changed_pixels: count.meta({ description: 'Of all regions, listed or not.' }),
  share: z.number().min(0).max(1).meta({
    description: 'Changed pixels of all pixels after alignment: those of `b`, and those that were removed from `a`.',
  }),
});
export type VisualDifference = z.output<typeof VisualDifferenceSchema>;

export const TextDifferenceSchema = z.strictObject({
  added: count.meta({ description: 'Lines that only `b` has.' }),
  removed: count.meta({ description: 'Lines that only `a` has.' }),
  unified: z.string().meta({
    description: `A unified diff: lines that begin with \`-\` or \`+\`, after \`@@\` and the places. Empty when no line differs; at most ${MAX_DIFF_CHARACTERS} characters.`,
  }),
  truncated: z.boolean().meta({ description: 'The diff is longer; its beginning is shown.' }),
});
export type TextDifference = z.output<typeof TextDifferenceSchema>;

const StyleChangeSchema = z.strictObject({ property: z.string(), from: z.string(), to: z.string() });
export type StyleChange = z.output<typeof StyleChangeSchema>;

const shortChange = z.strictObject({ from: z.string(), to: z.string() }).nullable();

const ElementChangeSchema = z.strictObject({
  selector: z.string().meta({ description: 'Matches the element alone: in `b`, or in `a` when it was removed.' }),
  kind: z.enum(REGION_KINDS),
  from: BoxSchema.nullable().meta({ description: 'Its place in the image of `a`.' }),
  to: BoxSchema.nullable().meta({ description: 'Its place in the image of `b`.' }),
  text: shortChange.meta({ description: 'The beginnings of its own text before and after; null when it is the same.' }),
  style: z
    .array(StyleChangeSchema)
    .meta({ description: 'Properties that differ. An empty value means that the property is not set.' }),
  image: shortChange.meta({ description: 'Address of its image; null when it is the same.' }),
});
export type ElementChange = z.output<typeof ElementChangeSchema>;

const ElementsDifferenceSchema = z.strictObject({
  changes: z.array(ElementChangeSchema).meta({
    description: `At most ${MAX_CHANGED_ELEMENTS}, in the order of the page. Where elements were inserted, removed or moved, only the outermost ones are listed.`,
  }),
  truncated: z.boolean().meta({ description: 'Whether there are more, or one of the element maps was cut.' }),
});
export type ElementsDifference = z.output<typeof ElementsDifferenceSchema>;

const LinkDifferenceSchema = z.strictObject({
  added: z.array(z.string()).meta({ description: 'URLs that only `b` links to.' }),
  removed: z.array(z.string()).meta({ description: 'URLs that only `a` links to.' }),
  truncated: z.boolean().meta({ description: `There are more than ${MAX_DIFFERENT_LINKS} of a kind.` }),
});
export type LinkDifference = z.output<typeof LinkDifferenceSchema>;

/** Differences between the painted words, the links and the elements of two captures. */
export interface WordDifference {
  readonly text: TextDifference | null;
  readonly links: LinkDifference | null;
  readonly elements: ElementsDifference | null;
}

function changeOf<T extends z.ZodType>(value: T, name: string) {
  return z
    .strictObject({ from: value, to: value })
    .nullable()
    .meta({ description: `${name}; null when it is the same.` });
}

const DifferenceSchema = z.strictObject({
  ...VisualDifferenceSchema.shape,
  title: changeOf(z.string(), 'The title'),
  response_code: changeOf(count, "The target's HTTP status"),
  verdict: changeOf(z.enum(VERDICTS).nullable(), 'The verdict'),
  text: TextDifferenceSchema.nullable().meta({
    description: 'The painted text, by lines; null when one of the captures lacks the output `text`.',
  }),
  links: LinkDifferenceSchema.nullable().meta({
    description: 'The links; null when one of the captures lacks the output `links`.',
  }),
  elements: ElementsDifferenceSchema.nullable().meta({
    description:
      'The elements of the pages; null when one of the captures has no element map, or when comparing them took more than 10 s: then selectors are not applied.',
  }),
});
/** Differences between two captures. */
export type Difference = z.output<typeof DifferenceSchema>;

export const ComparisonSchema = z.strictObject({
  a: id.meta({ description: 'The capture before.' }),
  b: id.meta({ description: 'The capture after.' }),
  ...DifferenceSchema.shape,
});
