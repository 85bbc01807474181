import { z } from 'zod';
import { count, id } from './values.ts';

/** Maximum number of pixels of each image of a comparison: 1,280 by 26,214. Both take 8 bytes a pixel in memory. */
export const MAX_COMPARED_PIXELS = 2 ** 25;
/** Maximum number of regions in an answer. */
export const MAX_REGIONS = 500;

export const REGION_KINDS = ['inserted', 'removed', 'moved', 'edited'] as const;
export type RegionKind = (typeof REGION_KINDS)[number];

const BoxSchema = z.strictObject({ x: count, y: count, width: count, height: count });
/** A rectangle of an image, in its pixels. */
export type Box = z.output<typeof BoxSchema>;

export const RegionSchema = z.strictObject({
  kind: z.enum(REGION_KINDS),
  from: BoxSchema.nullable().meta({ description: 'Its place in `a`; null when it was inserted.' }),
  to: BoxSchema.nullable().meta({ description: 'Its place in `b`; null when it was removed.' }),
  pixels: count.meta({
    description: 'Changed pixels: of an edited region those that differ, of a moved one none, else its area.',
  }),
});
export type Region = z.output<typeof RegionSchema>;

export const PictureDifferenceSchema = z.strictObject({
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
export type PictureDifference = z.output<typeof PictureDifferenceSchema>;

export const ComparisonSchema = z.strictObject({
  a: id.meta({ description: 'The capture before.' }),
  b: id.meta({ description: 'The capture after.' }),
  ...PictureDifferenceSchema.shape,
});
