import { setImmediate as nextTurn } from 'node:timers/promises';
import { firstValueFrom } from 'rxjs';
import { z } from 'zod';
import type { Client } from '../../capture/client.ts';
import { CapstanError } from '../../capture/errors.ts';
import type { WatchRequest } from '../../capture/request.ts';
import { bytesText, STORED_LIMITS } from '../../capture/stored-limits.ts';
import { parseOrRefuse, withFewValues } from '../../capture/validate.ts';
import {
  type ListedWatch,
  ListedWatchSchema,
  MAX_RECENT_RUNS,
  type Watch,
  type WatchRun,
  WatchRunSchema,
  WatchSchema,
  WatchValuesSchema,
} from '../../capture/work/watch.ts';
import type { ServiceView } from '../../service/capture-service.ts';
import type { Page } from '../../storage/ports/watch-store.ts';
import { answer } from '../answer/envelope.ts';
import { linkedPage, PAGE_END } from '../answer/paging.ts';
import { goneSignal } from '../connection/client-gone.ts';
import { callerOf, listedKey } from '../keys/callers.ts';
import { valueLines } from '../lines/value-lines.ts';
import { envelope, text } from '../openapi/content.ts';
import { DATABASE_FAILURES } from '../openapi/failures.ts';
import { idCursor } from '../request/cursor.ts';
import { MAX_BODY_BYTES } from '../request/json-body.ts';
import { DEFAULT_LIMIT, idCursorParameter, integerText, limitParameter, watchId } from '../request/parameters.ts';
import { publicPath } from '../request/public-address.ts';
import { type Answer, route, routeWithBody } from '../route.ts';
import type { HttpContext } from '../state.ts';

/* Watches: pages that are captured again and again. A key sees its own, as with jobs; an administrator sees all. */

const ONE: Answer = { description: 'The watch.', content: envelope('Watch', WatchSchema) };

const WatchChangeSchema = z
  .preprocess(
    withFewValues,
    z.record(z.string(), z.unknown(), { error: 'must be a JSON object with the fields to change' }),
  )
  .meta({
    description: 'Fields of a WatchRequest. Each replaces the whole field of the watch; null removes it.',
    examples: [{ every: '1h', labels: ['prices'] }],
  });

const PAGE = `A page. ${PAGE_END}`;
const NO_WATCHES = { items: [], isCut: false };
/** Maximum number of watches of a page that has runs, too. */
const MAX_WITH_RUNS = 100;

const recentParameter = integerText(
  z
    .number()
    .min(0, { error: `must be from 0 to ${MAX_RECENT_RUNS}` })
    .max(MAX_RECENT_RUNS, { error: `must be from 0 to ${MAX_RECENT_RUNS}` }),
  'must be an integer',
)
  .optional()
  .meta({
    type: 'integer',
    minimum: 0,
    maximum: MAX_RECENT_RUNS,
    description: `Number of the newest runs that each watch is listed with, as \`recent_runs\`. A page then has at most ${MAX_WITH_RUNS} watches.`,
  });

export const postWatch = routeWithBody({
  method: 'POST',
  path: '/watches',
  operationId: 'createWatch',
  summary: 'Captures a page again and again, and tells when it changed.',
  description: `The first run is made at once; later ones are compared with it. A change is reported by the event \`watch.changed\`, and the capture that shows it is the one that later ones are compared with. At most ${STORED_LIMITS.watches.count} watches are kept, with their runs at most ${bytesText(STORED_LIMITS.watches.bytes)}, of which a named key has a share.`,
  tag: 'capture',
  parameters: {},
  body: { name: 'WatchRequest', schema: (schemas) => schemas.watch },
  isIdempotent: true,
  needsDatabase: true,
  answers: { 201: { ...ONE, headers: ['Location', 'Idempotent-Replayed'] } },
  failures: ['target_forbidden', 'not_found', 'too_many_watches', ...DATABASE_FAILURES],
  handle: async (ctx, { body }, { service }) => {
    const written = writtenIn(ctx);
    await admit(service, body, written, callerOf(ctx));
    const { owner, apiKeyName, isIsolated } = callerOf(ctx);
    const watch = await service.watches.add({ ...body, written }, { owner, apiKeyName, isIsolated });
    answer(ctx, watch, 'The watch is kept, and its first run is due.');
    ctx.status = 201;
    ctx.set('Location', publicPath(ctx, `/watches/${watch.id}`));
  },
});

export const getWatches = route({
  method: 'GET',
  path: '/watches',
  operationId: 'listWatches',
  summary: 'Watches, oldest first.',
  tag: 'capture',
  parameters: {
    label: z.string().optional().meta({ description: 'Only watches with this label.' }),
    limit: limitParameter(String(DEFAULT_LIMIT)),
    cursor: idCursorParameter,
    recent: recentParameter,
  },
  answers: {
    200: { description: PAGE, content: envelope('WatchList', z.array(ListedWatchSchema)), headers: ['Link'] },
  },
  failures: [...DATABASE_FAILURES],
  handle: async (ctx, { label, limit = DEFAULT_LIMIT, cursor = 0, recent = 0 }, { service: { watches } }) => {
    const ofKey = listedKey(ctx);
    const max = recent > 0 ? Math.min(limit, MAX_WITH_RUNS) : limit;
    const found = ofKey === null ? NO_WATCHES : await watches.list({ ofKey, label, after: cursor, limit: max });
    const cursorAfter = ({ id }: Watch) => idCursor(id);
    if (recent === 0) return answer(ctx, linkedPage(ctx, found, cursorAfter));
    const { gone, release } = goneSignal(ctx);
    const page = await withRuns(watches, found, recent, gone).finally(release);
    answer(ctx, linkedPage(ctx, page, cursorAfter));
  },
});

export const getWatch = route({
  method: 'GET',
  path: '/watches/{id}',
  operationId: 'getWatch',
  summary: 'A watch, and what its last run found.',
  tag: 'capture',
  parameters: { id: watchId },
  answers: { 200: ONE },
  failures: ['invalid_id', 'not_found', ...DATABASE_FAILURES],
  handle: async (ctx, { id }, { service }) => answer(ctx, await shown(ctx, service, id)),
});

export const patchWatch = routeWithBody({
  method: 'PATCH',
  path: '/watches/{id}',
  operationId: 'changeWatch',
  scope: 'capture',
  summary: 'Changes a watch.',
  description:
    'Its history and its baseline are kept. A run under way is dropped, and made again if it was due. The body of the watch may have at most 1 MiB then.',
  tag: 'capture',
  parameters: { id: watchId },
  body: { name: 'WatchChange', schema: () => WatchChangeSchema },
  answers: { 200: ONE },
  failures: ['invalid_id', 'not_found', 'target_forbidden', 'too_many_watches', ...DATABASE_FAILURES],
  handle: async (ctx, { parameters: { id }, body }, { service, schemas }) => {
    const { api_key_name: apiKeyName = null } = await shown(ctx, service, id);
    const changed = (before: Readonly<Record<string, unknown>>) => {
      const written = merged(before, body);
      return { ...parseOrRefuse(schemas.watch, written), written };
    };
    await admit(service, changed((await service.watches.written(id)) ?? unknown(id)), body, { apiKeyName });
    answer(ctx, (await service.watches.change(id, changed)) ?? unknown(id), 'The watch is changed.');
  },
});

export const deleteWatch = route({
  method: 'DELETE',
  path: '/watches/{id}',
  operationId: 'removeWatch',
  scope: 'capture',
  summary: 'Removes a watch.',
  description: 'Its captures are kept, as any others.',
  tag: 'capture',
  parameters: { id: watchId },
  answers: {
    200: { description: 'It is removed.', content: envelope('RemovedWatch', z.strictObject({ id: z.int() })) },
  },
  failures: ['invalid_id', 'not_found', ...DATABASE_FAILURES],
  handle: async (ctx, { id }, { service }) => {
    await shown(ctx, service, id);
    if (!(await service.watches.remove(id))) unknown(id);
    answer(ctx, { id }, 'The watch is removed.');
  },
});

export const getWatchHistory = route({
  method: 'GET',
  path: '/watches/{id}/history',
  operationId: 'getWatchHistory',
  summary: 'The runs of a watch that are kept, newest first.',
  tag: 'capture',
  parameters: { id: watchId, limit: limitParameter(String(DEFAULT_LIMIT)), cursor: idCursorParameter },
  answers: {
    200: { description: PAGE, content: envelope('WatchHistory', z.array(WatchRunSchema)), headers: ['Link'] },
  },
  failures: ['invalid_id', 'not_found', ...DATABASE_FAILURES],
  handle: async (ctx, { id, limit = DEFAULT_LIMIT, cursor = Number.MAX_SAFE_INTEGER }, { service }) => {
    await shown(ctx, service, id);
    const found = await service.watches.history(id, limit, cursor);
    answer(
      ctx,
      linkedPage(ctx, found, (last) => idCursor(Date.parse(last.due))),
    );
  },
});

const VALUE_FORMATS = ['json', 'csv'] as const;

export const getWatchValues = route({
  method: 'GET',
  path: '/watches/{id}/values',
  operationId: 'getWatchValues',
  summary: 'The values that the runs of a watch have read, newest first.',
  description:
    'Of the runs that are kept. In CSV, a text that a spreadsheet would take for a formula begins with an apostrophe.',
  tag: 'capture',
  parameters: {
    id: watchId,
    format: z
      .enum(VALUE_FORMATS, { error: 'must be json or csv' })
      .optional()
      .meta({ description: 'A line of CSV for each run, or JSON.', default: 'json' }),
    limit: limitParameter(String(DEFAULT_LIMIT)),
    cursor: idCursorParameter,
  },
  answers: {
    200: {
      description: PAGE,
      content: { ...envelope('WatchValues', z.array(WatchValuesSchema)), ...text('text/csv') },
      headers: ['Link'],
    },
  },
  failures: ['invalid_id', 'not_found', ...DATABASE_FAILURES],
  handle: async (ctx, { id, format, limit = DEFAULT_LIMIT, cursor = Number.MAX_SAFE_INTEGER }, { service }) => {
    const { values: rules } = await shown(ctx, service, id);
    const found = await service.watches.history(id, limit, cursor);
    const runs = linkedPage(ctx, found, (last) => idCursor(Date.parse(last.due)));
    if (format !== 'csv') return answer(ctx, runs.map(valuesOf));
    ctx.status = 200;
    ctx.type = 'text/csv; charset=utf-8';
    ctx.body = valueLines(Object.keys(rules ?? {}), runs).join('');
  },
});

function valuesOf({ due, at, state, capture, values, reason }: WatchRun) {
  return { due, at, state, capture, values, reason };
}

export const pauseWatch = command('pause', 'Makes no further runs until it is resumed.', (watches, id) =>
  watches.pause(id, true),
);

export const resumeWatch = command('resume', 'Makes runs again, from the next regular one on.', (watches, id) =>
  watches.pause(id, false),
);

export const runWatch = command('run', 'Makes a run now, also of a paused watch.', (watches, id) => watches.run(id));

function command(
  name: string,
  summary: string,
  perform: (watches: ServiceView['watches'], id: number) => Promise<Watch | undefined>,
) {
  return route({
    method: 'POST',
    path: `/watches/{id}/${name}`,
    operationId: `${name}Watch`,
    summary,
    tag: 'capture',
    parameters: { id: watchId },
    answers: { 200: ONE },
    failures: ['invalid_id', 'not_found', ...DATABASE_FAILURES],
    handle: async (ctx, { id }, { service }) => {
      await shown(ctx, service, id);
      answer(ctx, (await perform(service.watches, id)) ?? unknown(id));
    },
  });
}

/**
 * Adds their newest runs to watches, until the client has left or the page is large. Other requests get a turn between
 * watches: a page may have 5,000 runs.
 */
async function withRuns(
  { history }: ServiceView['watches'],
  { items, isCut }: Page<Watch>,
  recent: number,
  gone: AbortSignal,
): Promise<Page<ListedWatch>> {
  const listed: ListedWatch[] = [];
  let characters = 0;
  for (const watch of items) {
    gone.throwIfAborted();
    const { items: runs } = await history(watch.id, recent, Number.MAX_SAFE_INTEGER);
    const withRuns = { ...watch, recent_runs: runs.map(({ regions: _regions, ...run }) => run) };
    listed.push(withRuns);
    characters += JSON.stringify(withRuns).length;
    if (characters >= STORED_LIMITS.page.bytes) break;
    await nextTurn();
  }
  return { items: listed, isCut: isCut || listed.length < items.length };
}

/** Returns a watch that the caller may see. */
async function shown(ctx: HttpContext, { watches }: ServiceView, id: number): Promise<Watch> {
  const ofKey = listedKey(ctx);
  return (ofKey === null ? undefined : await watches.get(id, ofKey)) ?? unknown(id);
}

/**
 * Refuses a callback that may not be dialled, receivers that the key does not have, and accepted captures that the
 * caller cannot see, if `body` brings them: others were admitted by the request that brought them.
 */
async function admit(
  service: ServiceView,
  { callback, notify, rules }: WatchRequest,
  body: Readonly<Record<string, unknown>>,
  { apiKeyName }: Pick<Client, 'apiKeyName'>,
): Promise<void> {
  if (callback !== undefined && 'callback' in body) {
    await firstValueFrom(service.admitCallback(callback), { defaultValue: undefined });
  }
  if (notify !== undefined && 'notify' in body) await service.receivers.admitNames(notify, apiKeyName);
  if (!('accept' in body)) return;
  const seen = await Promise.all(rules.accept.map((id) => service.artifacts.has(id)));
  const missing = rules.accept.find((_, at) => seen[at] === false);
  if (missing !== undefined) throw await service.whyMissing(missing);
}

/** Returns the body as it was sent. */
function writtenIn(ctx: HttpContext): Readonly<Record<string, unknown>> {
  return WatchChangeSchema.parse(ctx.request.body);
}

function merged(
  written: Readonly<Record<string, unknown>>,
  change: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  const all = Object.fromEntries(Object.entries({ ...written, ...change }).filter(([, value]) => value !== null));
  if (Buffer.byteLength(JSON.stringify(all)) <= MAX_BODY_BYTES) return all;
  throw new CapstanError('payload_too_large', 'The body of the watch would be larger than 1 MiB with this change.');
}

function unknown(id: number): never {
  throw new CapstanError('not_found', `There is no watch with the id ${id}.`);
}
