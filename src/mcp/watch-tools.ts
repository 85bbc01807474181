import { z } from 'zod';
import { IGNORE_DESCRIPTION, MAX_IGNORED } from '../capture/comparison.ts';
import { id } from '../capture/values.ts';
import { COMPARED, WatchRunSchema, WatchSchema } from '../capture/watch.ts';
import type { Api } from './api.ts';
import { plainLine } from './untrusted.ts';

const MAX_LISTED = 50;

export const watchInput = z.strictObject({
  url: z.string().meta({ description: 'Page to watch.' }),
  every: z.string().default('1h').meta({ description: 'Interval of the captures, such as 10m, 1h or 1d.' }),
  compare: z.array(z.enum(COMPARED)).min(1).default(['visual']).meta({ description: 'What is compared.' }),
  ignore: z.array(z.string()).max(MAX_IGNORED).default([]).meta({ description: IGNORE_DESCRIPTION }),
});

export const watchesInput = z.strictObject({
  watch: id.optional().meta({ description: 'Id of a watch, whose runs are listed; without it, watches are.' }),
  limit: z.int().min(1).max(MAX_LISTED).default(10),
});

export const unwatchInput = z.strictObject({ watch: id.meta({ description: 'Id of the watch.' }) });

// Reasons of failures may hold words of a page.
const RunFacts = WatchRunSchema.omit({ reason: true });

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

export const watchOutput = WatchFacts;
export const watchesOutput = z.object({
  watches: z.array(WatchFacts).meta({ description: 'Oldest first; the one that was asked for.' }),
  runs: z.array(RunFacts).meta({
    description: 'Runs of the watch, newest first. compare says what differs between before and capture of one.',
  }),
});
export const unwatchOutput = z.object({ id });

const AnsweredRun = z.object(RunFacts.shape);
const AnsweredWatch = z.object({ ...WatchFacts.shape, last_run: AnsweredRun.nullable() });
const One = z.object({ data: AnsweredWatch });
const Many = z.object({ data: z.array(AnsweredWatch) });
const Runs = z.object({ data: z.array(AnsweredRun) });

/** Begins to watch a page. */
export async function watch(api: Api, { compare, ...given }: z.output<typeof watchInput>, signal: AbortSignal) {
  const body = { ...given, compare: Object.fromEntries(compare.map((name) => [name, true])) };
  const { data } = One.parse(await (await api.send('/watches', { body, signal })).json());
  return said(factsOf(data));
}

/** Lists watches, or the runs of one. */
export async function watches(api: Api, { watch, limit }: z.output<typeof watchesInput>, signal: AbortSignal) {
  if (watch === undefined) {
    const { data } = Many.parse(await (await api.send(`/watches?limit=${limit}`, { signal })).json());
    return said({ watches: data.map(factsOf), runs: [] });
  }
  const { data } = One.parse(await (await api.send(`/watches/${watch}`, { signal })).json());
  const runs = Runs.parse(await (await api.send(`/watches/${watch}/history?limit=${limit}`, { signal })).json());
  return said({ watches: [factsOf(data)], runs: runs.data });
}

/** Ends a watch. Its captures are kept. */
export async function unwatch(api: Api, { watch }: z.output<typeof unwatchInput>, signal: AbortSignal) {
  await api.send(`/watches/${watch}`, { method: 'DELETE', signal });
  return said({ id: watch });
}

function factsOf(found: z.output<typeof AnsweredWatch>): z.output<typeof WatchFacts> {
  return { ...found, url: plainLine(found.url, 'url') };
}

function said<T extends object>(structuredContent: T) {
  return {
    structuredContent: { ...structuredContent },
    content: [{ type: 'text' as const, text: JSON.stringify(structuredContent) }],
  };
}
