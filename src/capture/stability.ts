import { z } from 'zod';
import { BoxSchema, MAX_IGNORED } from './comparison.ts';
import type { Immutable } from './immutable.ts';
import { id } from './values.ts';

/*
 * A check of stability captures a page several times, each time with something else varied, and names the elements that
 * do not look the same each time.
 */

/** What a capture of a check varies. */
const VARIED = ['nothing', 'clock', 'randomness', 'animation', 'time', 'ads'] as const;
export type Varied = (typeof VARIED)[number];

const CAUSES = ['clock', 'randomness', 'animation', 'carousel', 'ad', 'lazy_load', 'server'] as const;
export type Cause = (typeof CAUSES)[number];

const UnstableElementSchema = z.strictObject({
  selector: z.string().meta({ description: 'Matches the element alone.' }),
  cause: z.enum(CAUSES).meta({
    description:
      '`clock`: it shows the time; `randomness`: random numbers of its scripts; `animation`: it moves all the time; `carousel`: it shows something else after some seconds; `lazy_load`: it comes late; `ad`: it is gone, or steady, without advertisers; `server`: it is another one for each request.',
  }),
  box: BoxSchema.meta({ description: 'Its place in the image.' }),
  before: id.meta({ description: 'Two captures that show it differently.' }),
  after: id,
});
export type UnstableElement = Immutable<z.output<typeof UnstableElementSchema>>;

export const StabilitySchema = z.strictObject({
  stable: z.boolean().meta({ description: 'No element differs.' }),
  unstable: z.array(UnstableElementSchema).meta({ description: 'From top to bottom.' }),
  ignore: z.array(z.string()).max(MAX_IGNORED).meta({
    description: 'The unstable elements, as `ignore` of a comparison or a watch takes them.',
  }),
  captures: z
    .array(z.strictObject({ id, varied: z.enum(VARIED) }))
    .meta({ description: 'The captures that were made. They are stored as any others.' }),
});
export type Stability = Immutable<z.output<typeof StabilitySchema>>;
