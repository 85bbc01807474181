import { z } from 'zod';
import { IGNORE_DESCRIPTION, MAX_IGNORED } from '../capture/comparison.ts';
import { id } from '../capture/values.ts';
import { COMPARED, WatchRunSchema, WatchSchema, watchFields } from '../capture/watch.ts';
import { CAPTURES, READS, tool } from './tool.ts';
import { plainLine } from './untrusted.ts';

const MAX_LISTED = 50;

// Reasons and values may hold words of a page.
const RunFacts = WatchRunSchema.omit({ reason: true, values: true });

const WatchFacts = WatchSchema.pick({
  id: true,
  url: true,
  state: true,
  every: true,
  schedule: true,
  next_run_at: true,
  runs: true,
  changes: true,
  failures: true,
}).extend({ last_run: RunFacts.nullable() });

const AnsweredRun = z.object(RunFacts.shape);
const AnsweredWatch = z.object({ ...WatchFacts.shape, last_run: AnsweredRun.nullable() });

export const watchTool = tool('watch', {
  title: 'Watch a web page',
  description:
    'Captures a page at an interval from now on, and compares each capture with the one before. watches lists what was found, unwatch ends it.',
  annotations: CAPTURES,
  inputSchema: z.strictObject({
    url: z.string().meta({ description: 'Page to watch.' }),
    every: z.string().default('1h').meta({ description: 'Interval of the captures, such as 10m, 1h or 1d.' }),
    compare: z
      .array(z.enum(COMPARED))
      .min(1)
      .optional()
      .meta({ description: 'What is compared. Default: visual, or nothing but the values when there are values.' }),
    // The service checks them.
    values: z
      .record(z.string(), z.unknown())
      .optional()
      .meta({ ...watchFields.values.meta() }),
    when: z
      .record(z.string(), z.unknown())
      .optional()
      .meta({ ...watchFields.when.meta() }),
    ignore: z.array(z.string()).max(MAX_IGNORED).default([]).meta({ description: IGNORE_DESCRIPTION }),
  }),
  outputSchema: WatchFacts,
  run: async (api, { compare, ...given }, signal) => {
    const body = {
      ...given,
      ...(compare && { compare: Object.fromEntries(compare.map((name) => [name, true])) }),
    };
    const data = await api.read(AnsweredWatch, '/watches', { body, signal });
    return said(factsOf(data));
  },
});

export const watchesTool = tool('watches', {
  title: 'List watches and what they found',
  description:
    'Lists the watches with what their last run found; or one watch with its runs: which found a change, in which regions of the image, and the captures before and after.',
  annotations: READS,
  inputSchema: z.strictObject({
    watch: id.optional().meta({ description: 'Id of a watch, whose runs are listed; without it, watches are.' }),
    limit: z.int().min(1).max(MAX_LISTED).default(10),
  }),
  outputSchema: z.object({
    watches: z.array(WatchFacts).meta({ description: 'Oldest first; the one that was asked for.' }),
    runs: z.array(RunFacts).meta({
      description: 'Runs of the watch, newest first. compare says what differs between before and capture of one.',
    }),
  }),
  run: async (api, { watch, limit }, signal) => {
    if (watch === undefined) {
      const data = await api.read(z.array(AnsweredWatch), `/watches?limit=${limit}`, { signal });
      return said({ watches: data.map(factsOf), runs: [] });
    }
    const data = await api.read(AnsweredWatch, `/watches/${watch}`, { signal });
    const runs = await api.read(z.array(AnsweredRun), `/watches/${watch}/history?limit=${limit}`, { signal });
    return said({ watches: [factsOf(data)], runs });
  },
});

export const unwatchTool = tool('unwatch', {
  title: 'End a watch',
  description: 'Ends a watch. The captures that it made are kept.',
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
  inputSchema: z.strictObject({ watch: id.meta({ description: 'Id of the watch.' }) }),
  outputSchema: z.object({ id }),
  run: async (api, { watch }, signal) => {
    await api.send(`/watches/${watch}`, { method: 'DELETE', signal });
    return said({ id: watch });
  },
});

function factsOf(found: z.output<typeof AnsweredWatch>): z.output<typeof WatchFacts> {
  return { ...found, url: plainLine(found.url, 'url') };
}

function said<T extends object>(structuredContent: T) {
  return {
    structuredContent: { ...structuredContent },
    content: [{ type: 'text' as const, text: JSON.stringify(structuredContent) }],
  };
}
