import { z } from 'zod';
import { StabilitySchema } from '../capture/comparison/stability.ts';
import { captureInput } from './capture-tool.ts';
import { CAPTURES, tool } from './tool.ts';
import { marked, plainLine } from './untrusted.ts';

const { unstable } = StabilitySchema.shape;
export const stabilityTool = tool('stability', {
  title: 'Find what looks different each time',
  description:
    'Captures a page 11 times, with clock, random numbers and timing varied one by one, and says where it does not look the same each time, why, and what compare and watch can ignore. Takes about 10 s longer than a capture.',
  annotations: CAPTURES,
  inputSchema: captureInput,
  outputSchema: StabilitySchema.pick({ stable: true, truncated: true }).extend({
    unstable: z.array(unstable.element.omit({ selector: true })).meta({ description: 'From top to bottom.' }),
    untrusted: z.strictObject({ ignore: z.array(z.string()) }).meta({
      description:
        'The elements in the same order, as ignore of compare and watch takes them. Their names were chosen by the page.',
    }),
  }),
  run: async (api, body, signal) => {
    const data = await api.read(StabilitySchema, '/captures/stability', { body, signal });
    const { stable, truncated } = data;
    const facts = { stable, truncated, unstable: data.unstable.map(({ selector: _, ...known }) => known) };
    const ignore = data.ignore.map((each) => plainLine(each, 'ignored'));
    const words = ignore.length === 0 ? '' : `\n${marked(ignore.join('\n'))}`;
    return {
      structuredContent: { ...facts, untrusted: { ignore } },
      content: [{ type: 'text', text: `${JSON.stringify(facts)}${words}` }],
    };
  },
});
