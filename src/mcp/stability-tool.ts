import { z } from 'zod';
import { StabilitySchema } from '../capture/stability.ts';
import type { Api } from './api.ts';
import { captureInput } from './capture-tool.ts';
import { marked, plainLine } from './untrusted.ts';

export const stabilityInput = captureInput;

const { unstable } = StabilitySchema.shape;
export const stabilityOutput = StabilitySchema.pick({ stable: true }).extend({
  unstable: z.array(unstable.element.omit({ selector: true })).meta({ description: 'From top to bottom.' }),
  untrusted: z.strictObject({ ignore: z.array(z.string()) }).meta({
    description:
      'The elements in the same order, as ignore of compare and watch takes them. Their names were chosen by the page.',
  }),
});

const Answer = z.object({ data: StabilitySchema });

/** Names the elements of a page that do not look the same each time, and why. */
export async function stability(api: Api, body: z.output<typeof stabilityInput>, signal: AbortSignal) {
  const { data } = Answer.parse(await (await api.send('/captures/stability', { body, signal })).json());
  const facts = { stable: data.stable, unstable: data.unstable.map(({ selector: _, ...known }) => known) };
  const ignore = data.ignore.map((each) => plainLine(each, 'url'));
  const words = ignore.length === 0 ? '' : `\n${marked(ignore.join('\n'))}`;
  return {
    structuredContent: { ...facts, untrusted: { ignore } },
    content: [{ type: 'text' as const, text: `${JSON.stringify(facts)}${words}` }],
  };
}
