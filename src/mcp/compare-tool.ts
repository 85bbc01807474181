import { z } from 'zod';
import { ComparisonSchema } from '../capture/comparison.ts';
import { id } from '../capture/values.ts';
import type { Api } from './api.ts';

export const compareInput = z.strictObject({
  a: id.meta({ description: 'Id of the capture before.' }),
  b: id.meta({ description: 'Id of the capture after.' }),
});

export const compareOutput = ComparisonSchema;

const Answer = z.object({ data: ComparisonSchema });

/** Says what differs between the images of two captures. The answer holds no words of the pages. */
export async function compare(api: Api, { a, b }: z.output<typeof compareInput>, signal: AbortSignal) {
  const { data } = Answer.parse(await (await api.send(`/compare?a=${a}&b=${b}`, { signal })).json());
  return { structuredContent: data, content: [{ type: 'text' as const, text: JSON.stringify(data) }] };
}
