import { z } from 'zod';
import { id } from '../capture/basics/values.ts';
import { IGNORE_DESCRIPTION, MAX_IGNORED } from '../capture/comparison/comparison.ts';
import { notifyField } from '../capture/work/receiver.ts';
import { COMPARED, WatchRunSchema, WatchSchema, watchFields } from '../capture/work/watch.ts';
import { CAPTURES, READS, tool } from './tool.ts';
import { marked, plainLine, plainValue } from './untrusted.ts';

const MAX_LISTED = 50;

const Untrusted = WatchRunSchema.pick({ reason: true, values: true }).meta({
  description: 'May hold words of the page: why it failed or what became of the values, and the values by their names.',
});
const RunFacts = WatchRunSchema.omit({ reason: true, values: true }).extend({ untrusted: Untrusted });

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

const AnsweredRun = z.object(WatchRunSchema.shape);
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
    notify: notifyField.meta({ description: 'Names of receivers that are told of changes.' }),
  }),
  outputSchema: WatchFacts,
  run: async (api, { compare, ...given }, signal) => {
    const body = {
      ...given,
      ...(compare && { compare: Object.fromEntries(compare.map((name) => [name, true])) }),
    };
    return said(factsOf(await api.read(AnsweredWatch, '/watches', { body, signal })));
  },
});

export const watchesTool = tool('watches', {
  title: 'List watches and what they found',
  description:
    'Lists the watches with what their last run found; or one watch with its runs: which found a change, in which regions of the image or in which values, and the captures before and after.',
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
      const watches = data.map(factsOf);
      return said(
        { watches, runs: [] },
        watches.map((each) => each.last_run),
      );
    }
    const data = await api.read(AnsweredWatch, `/watches/${watch}`, { signal });
    const found = await api.read(z.array(AnsweredRun), `/watches/${watch}/history?limit=${limit}`, { signal });
    const runs = found.map(factsOfRun);
    return said({ watches: [factsOf(data)], runs }, runs);
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

function factsOf({ last_run: run, url, ...found }: z.output<typeof AnsweredWatch>): z.output<typeof WatchFacts> {
  return { ...found, url: plainLine(url, 'url'), last_run: run && factsOfRun(run) };
}

function factsOfRun({ reason, values, ...run }: z.output<typeof AnsweredRun>): z.output<typeof RunFacts> {
  return { ...run, untrusted: Untrusted.parse(JSON.parse(JSON.stringify({ reason, values }), plainValue)) };
}

/** Answers facts, and in the text behind them the words of the pages of runs. */
function said<T extends object>(structuredContent: T, runs: readonly (z.output<typeof RunFacts> | null)[] = []) {
  const trusted = JSON.stringify(structuredContent, (name, value) => (name === 'untrusted' ? undefined : value));
  const words = runs.flatMap((run) => {
    if (run === null || (run.untrusted.reason === null && run.untrusted.values === null)) return [];
    return [{ due: run.due, capture: run.capture, ...run.untrusted }];
  });
  const text = words.length === 0 ? trusted : `${trusted}\n${marked(JSON.stringify(words))}`;
  return { structuredContent: { ...structuredContent }, content: [{ type: 'text' as const, text }] };
}
