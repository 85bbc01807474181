import { z } from 'zod';
import { count } from '../basics/values.ts';

/*
 * The element map of a capture: where the elements of the page are in the image. It is written by the page's process,
 * so it is read with bounds.
 */

/** Maximum number of entries: elements and texts. */
export const MAX_ENTRIES = 10_000;
/** Maximum depth of a map that is read. Captures map at most 500 levels of each document. */
export const MAX_LEVELS = 1000;
/** Maximum size in UTF-16 code units. A larger map is cut. */
export const MAX_MAP_CHARACTERS = 4 * 1024 * 1024;
/** Maximum number of characters that are kept of a text; longer ones are compared by their hash. */
export const MAX_SHORT_CHARACTERS = 48;
/** Tags of elements that hold the whole page. */
export const PAGE_TAGS: ReadonlySet<string> = new Set(['html', 'body', 'main']);

const short = z.string().max(300);
const index = z.int().min(0).max(MAX_ENTRIES);
const parent = z.int().min(-1).max(MAX_ENTRIES).meta({
  description: 'Index of the element around it; -1 for the document. That of a frame is around its document.',
});

const ElementEntrySchema = z.object({
  parent,
  tag: short,
  id: short.optional(),
  class: short.optional(),
  attributes: z.record(z.string().max(100), short).optional(),
  box: z.tuple([z.int(), z.int(), z.int(), z.int()]).optional().meta({
    description: 'x, y, width and height in pixels of the image, also beyond its edges; absent when it shows none.',
  }),
  style: index.optional().meta({ description: 'Index in `styles`.' }),
  image: short.optional().meta({ description: 'Beginning of the address of its image, and a hash of the rest.' }),
  filled: z.literal(true).optional().meta({
    description: 'There when it has elements or text (also white space), and none of them is an entry.',
  }),
});
export type ElementEntry = z.output<typeof ElementEntrySchema>;

const TextEntrySchema = z.object({
  parent,
  text: short.meta({
    description: `The first ${MAX_SHORT_CHARACTERS} characters, with white space collapsed, without characters that are not drawn.`,
  }),
  length: count,
  hash: z.int().min(0),
});
export type TextEntry = z.output<typeof TextEntrySchema>;

export const ElementMapSchema = z.object({
  styles: z.array(z.record(z.string().max(40), short)).max(MAX_ENTRIES),
  entries: z
    .array(z.union([TextEntrySchema, ElementEntrySchema]))
    .max(MAX_ENTRIES)
    .meta({ description: 'In document order.' }),
  partial: z.boolean().meta({ description: 'Whether a limit of time or size cut the map.' }),
});
export type ElementMap = z.output<typeof ElementMapSchema>;
