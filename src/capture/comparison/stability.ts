import { z } from 'zod';
import type { Immutable } from '../basics/immutable.ts';
import { id } from '../basics/values.ts';
import { BoxSchema, MAX_IGNORED } from './comparison.ts';
import { MAX_LIST_CHARACTERS } from './element-selector.ts';

/*
 * A stability check captures a page several times, varies something else each time, and names the elements that look
 * different from capture to capture.
 */

/** Maximum number of elements in an answer. */
export const MAX_UNSTABLE = 200;

/** Conditions that a capture of a check varies. */
const VARIED = ['nothing', 'clock', 'randomness', 'animation', 'time', 'ads'] as const;
export type Varied = (typeof VARIED)[number];

const CAUSES = ['clock', 'randomness', 'animation', 'carousel', 'lazy_load', 'ad', 'server'] as const;
export type Cause = (typeof CAUSES)[number];

/** How an element with each cause behaves, for the description of the field. */
const EFFECTS: Readonly<Record<Cause, string>> = {
  clock: 'it shows the time',
  randomness: 'it shows random numbers of its scripts',
  animation: 'it moves all the time',
  carousel: 'it shows something else after some seconds',
  lazy_load: 'it appears late',
  ad: 'it is absent or stable when advertisers are blocked',
  server: 'it is sent differently for each request',
};

const UnstableElementSchema = z.strictObject({
  selector: z.string().meta({
    description: 'Matches the element alone, or, when that takes more than 1000 characters, the nearest one around it.',
  }),
  cause: z.enum(CAUSES).meta({
    description: `${CAUSES.map((cause) => `\`${cause}\`: ${EFFECTS[cause]}`).join('; ')}.`,
  }),
  box: BoxSchema.meta({ description: 'Its place in the image.' }),
  before: id.meta({ description: 'Two captures that show it differently.' }),
  after: id,
});
export type UnstableElement = Immutable<z.output<typeof UnstableElementSchema>>;

export const StabilitySchema = z.strictObject({
  stable: z.boolean().meta({ description: 'Whether no element differs.' }),
  unstable: z
    .array(UnstableElementSchema)
    .max(MAX_UNSTABLE)
    .meta({ description: `At most ${MAX_UNSTABLE}, from top to bottom.` }),
  truncated: z.boolean().meta({ description: 'Whether there are more.' }),
  ignore: z
    .array(z.string())
    .max(MAX_IGNORED)
    .meta({
      description: `The first unstable elements, as \`ignore\` of a comparison or a watch takes them: at most ${MAX_IGNORED}, with at most ${MAX_LIST_CHARACTERS} characters of selectors.`,
    }),
  captures: z
    .array(z.strictObject({ id, varied: z.enum(VARIED) }))
    .meta({ description: 'The captures that were made. They are stored like any others.' }),
});
export type Stability = Immutable<z.output<typeof StabilitySchema>>;
