import { z } from 'zod';
import { id } from '../capture/basics/values.ts';
import { conditionFields } from '../capture/finding/result-conditions.ts';
import { VERDICTS } from '../capture/result/verdict.ts';
import { nextPage } from '../client/answers.ts';
import { ApiFailure } from './api.ts';
import { Captured, CaptureFacts, factsOf } from './captured.ts';
import { READS, tool } from './tool.ts';
import { NOTE } from './untrusted.ts';

const MAX_FOUND = 50;

const Answer = z.object({ data: z.array(Captured) });

/** The conditions of lists, which the API checks. */
const CONDITIONS = Object.fromEntries(
  Object.entries(conditionFields).map(([name, schema]) => [
    name,
    z
      .string()
      .optional()
      .meta({ description: schema.meta()?.description ?? '' }),
  ]),
);

export const findTool = tool('find', {
  title: 'Find captures',
  description:
    'Lists stored captures, newest first: by URL, host, words of the page, verdict, label, hold, scan, time, what the host was, or likeness to another one.',
  annotations: READS,
  inputSchema: z.strictObject({
    url: z.string().optional().meta({ description: 'Captures of this URL.' }),
    host: z
      .string()
      .optional()
      .meta({ description: 'Captures of hosts that begin with this, and of their subdomains.' }),
    similar_to: id
      .optional()
      .meta({ description: 'Captures that look like this one, nearest first; with limit alone.' }),
    ...CONDITIONS,
    words: z.string().optional().meta({
      description:
        'Words that the page shows: all of them, "a phrase", -without, ferr*. Finds captures of a service with --index-words.',
    }),
    verdict: z.enum(VERDICTS).optional(),
    limit: z.int().min(1).max(MAX_FOUND).default(10),
    cursor: z.string().optional().meta({ description: 'next_cursor of the answer before, with the same conditions.' }),
  }),
  outputSchema: z.object({
    captures: z.array(CaptureFacts),
    next_cursor: z.string().nullable().meta({ description: 'For the next page; null on the last one.' }),
  }),
  run: async (api, input, signal) => {
    const { url, host, similar_to: similar, limit, ...conditions } = input;
    const ways = [url, host, similar].filter((way) => way !== undefined);
    if (ways.length > 1) throw new ApiFailure('invalid_request', 'Give at most one of url, host and similar_to.');
    if (similar !== undefined && Object.values(conditions).some((each) => each !== undefined)) {
      throw new ApiFailure('invalid_request', 'similar_to takes limit, and no other condition.');
    }
    const path =
      url !== undefined
        ? '/results/by-url'
        : host !== undefined
          ? '/results/by-host'
          : similar !== undefined
            ? `/results/similar/${similar}`
            : '/results';
    const query = new URLSearchParams({ limit: String(limit) });
    for (const [name, value] of Object.entries({ url, host, ...conditions }))
      if (value !== undefined) query.set(name, value);
    const response = await api.send(`${path}?${query}`, { signal });
    const { data } = Answer.parse(await response.json());
    const structuredContent = { captures: data.map((each) => factsOf(each, api)), next_cursor: cursorOf(response) };
    return { structuredContent, content: [{ type: 'text', text: JSON.stringify(structuredContent) }, NOTE] };
  },
});

function cursorOf(response: Response): string | null {
  const next = nextPage(response);
  return next === undefined ? null : new URLSearchParams(next).get('cursor');
}
