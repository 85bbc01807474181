import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { visibleKey } from '../../capture/client.ts';
import { CapstanError } from '../../capture/errors.ts';
import { refusal } from '../../capture/validate.ts';
import { type EventFilter, EventFilterSchema, eventPredicate } from '../../feed/event-filter.ts';
import { findEvents, startOf } from '../../feed/matching-events.ts';
import type { ServiceView } from '../../service/capture-service.ts';
import type { QueryRecord } from '../../storage/ports/query-store.ts';
import { answer } from '../answer/envelope.ts';
import { DeliverySchema, type QueryAnswer, QuerySchema, RemovedQuerySchema } from '../answer/query-schemas.ts';
import { goneSignal } from '../connection/client-gone.ts';
import { callerOf, listedKey } from '../keys/callers.ts';
import { beginEvents, takePlace } from '../live/begin-events.ts';
import { type Consumed, deliverNext, streamDeliveries, unknownQuery } from '../live/deliveries.ts';
import { envelope, text } from '../openapi/content.ts';
import { DATABASE_FAILURES } from '../openapi/failures.ts';
import { DEFAULT_LIMIT, integerText, limitParameter } from '../request/parameters.ts';
import { publicPath } from '../request/public-address.ts';
import { type NewQuery, NewQuerySchema, shownFilter } from '../request/query-filter.ts';
import { route, routeWithBody } from '../route.ts';
import type { HttpContext } from '../state.ts';

/* Standing queries: filters over the events with a durable position each, which their consumers acknowledge. */

const MAX_WAIT_SECONDS = 60;
const WAIT = `must be an integer from 0 to ${MAX_WAIT_SECONDS}`;
/** Bounds of what is counted as not acknowledged: events, and pages of the log that are read. */
const MAX_PENDING = 1000;
const MAX_PENDING_PAGES = 50;
const READ_MS = 5000;

const queryId = z.string().meta({ description: "A standing query's id." });
const ONE = { 200: { description: 'The query.', content: envelope('Query', QuerySchema) } };

export const postQuery = routeWithBody({
  method: 'POST',
  path: '/queries',
  operationId: 'createQuery',
  scope: 'read',
  summary: 'Keeps a filter over the events, with a position of its own.',
  description:
    'Consumers read what matches with `GET /queries/{id}/next` and acknowledge it. A consumer that comes back later goes on after the last acknowledged event; where the log does not reach back so far, it is sent a `gap`. At most 1000 queries are kept, with at most 8 MiB, of which a named key has a share.',
  tag: 'operations',
  isIdempotent: true,
  parameters: {},
  body: { name: 'NewQuery', schema: () => NewQuerySchema },
  answers: {
    201: {
      description: 'The query is kept.',
      content: envelope('Query', QuerySchema),
      headers: ['Location', 'Idempotent-Replayed'],
    },
  },
  failures: ['not_found', 'too_many_queries', 'cluster_unavailable', ...DATABASE_FAILURES],
  handle: async (ctx, { body }, { service }) => {
    const { owner, apiKeyName } = callerOf(ctx);
    const { feed, queries } = service;
    await startOf(feed, AbortSignal.timeout(READ_MS));
    const { after = feed.newest } = body;
    if (after > feed.newest) {
      throw refusal([{ path: 'after', message: `must be the id of an event: at most ${feed.newest}, not ${after}` }]);
    }
    const filter: EventFilter = { ...(await filterOf(body.filter, service)), ofKey: visibleKey(callerOf(ctx)) };
    const { notify = [] } = body;
    await service.receivers.admitNames(notify, apiKeyName);
    const id = randomUUID();
    const kept = { id, apiKeyName, filter: JSON.stringify(filter), position: after, notify, notifyAfter: feed.newest };
    await queries.add({ ...kept, keysShare: owner !== null });
    answer(ctx, queryAnswer(await found(ctx, service, id)), 'The query is kept.');
    ctx.status = 201;
    ctx.set('Location', publicPath(ctx, `/queries/${id}`));
  },
});

export const getQueries = route({
  method: 'GET',
  path: '/queries',
  operationId: 'listQueries',
  summary: 'The newest standing queries.',
  tag: 'operations',
  parameters: { limit: limitParameter(String(DEFAULT_LIMIT)) },
  answers: { 200: { description: 'Newest first.', content: envelope('QueryList', z.array(QuerySchema)) } },
  failures: [...DATABASE_FAILURES],
  handle: async (ctx, { limit = DEFAULT_LIMIT }, { service: { queries } }) => {
    const ofKey = listedKey(ctx);
    const listed = ofKey === null ? [] : await queries.newest(limit, ofKey);
    answer(
      ctx,
      listed.map((query) => queryAnswer(query)),
    );
  },
});

export const getQuery = route({
  method: 'GET',
  path: '/queries/{id}',
  operationId: 'getQuery',
  summary: 'A standing query: its position, and what is not acknowledged.',
  tag: 'operations',
  parameters: { id: queryId },
  answers: ONE,
  failures: ['not_found', 'cluster_unavailable', ...DATABASE_FAILURES],
  handle: async (ctx, { id }, { service }) => {
    const query = await found(ctx, service, id);
    answer(ctx, { ...queryAnswer(query), pending: await pendingOf(consumedBy(ctx, service, query)) });
  },
});

export const getNext = route({
  method: 'GET',
  path: '/queries/{id}/next',
  operationId: 'nextOfQuery',
  summary: 'The next events of a standing query that are not acknowledged.',
  description:
    'Answers as soon as there are any, or with none after `wait` seconds. The same events come again until they are acknowledged. With `Accept: text/event-stream` they are sent as `GET /events` sends them, from the position on, each once in a connection. Every consumer of a query is sent what is not acknowledged. Each waiting consumer counts as a subscriber.',
  tag: 'operations',
  parameters: {
    id: queryId,
    wait: integerText(z.int({ error: WAIT }).min(0, { error: WAIT }).max(MAX_WAIT_SECONDS, { error: WAIT }), WAIT)
      .optional()
      .meta({ description: 'Maximum time to wait for an event, in seconds.', default: 0 }),
    limit: limitParameter(String(DEFAULT_LIMIT)),
  },
  answers: {
    200: {
      description: 'Oldest first.',
      content: { ...envelope('Delivery', DeliverySchema), ...text('text/event-stream') },
    },
  },
  failures: ['not_found', 'shutting_down', 'too_many_subscribers', 'cluster_unavailable', ...DATABASE_FAILURES],
  handle: async (ctx, { id, wait = 0, limit = DEFAULT_LIMIT }, { service, subscribers }) => {
    const query = await found(ctx, service, id);
    const consumed = consumedBy(ctx, service, query);
    ctx.vary('Accept');
    takePlace(ctx, subscribers);
    if (ctx.accepts('application/json', 'text/event-stream') === 'text/event-stream') {
      if (beginEvents(ctx)) await streamDeliveries(ctx.res, consumed);
      return;
    }
    const { position } = query;
    if (ctx.method === 'HEAD') {
      // A request for the head delivers nothing.
      ctx.type = 'json';
      ctx.status = 200;
      return;
    }
    const { gone, release } = goneSignal(ctx);
    const waitMs = wait * 1000;
    const { events } = await deliverNext(consumed, {
      after: position,
      emptySince: position,
      limit,
      waitMs,
      gone,
    }).finally(release);
    answer(ctx, {
      events: events.map(({ id, body }) => ({ id, event: JSON.parse(body) })),
      position: events.at(-1)?.id ?? null,
    });
  },
});

const AckSchema = z.strictObject({
  position: z
    .int({ error: 'must be the id of a delivered event' })
    .min(0, { error: 'must be the id of a delivered event' })
    .meta({ description: 'The id of a delivered event. All events up to it are acknowledged.' }),
});

export const ackQuery = routeWithBody({
  method: 'POST',
  path: '/queries/{id}/ack',
  operationId: 'acknowledgeQuery',
  scope: 'read',
  summary: 'Acknowledges the events of a standing query up to one of them.',
  description: 'Acknowledging the same position again changes nothing.',
  tag: 'operations',
  parameters: { id: queryId },
  body: { name: 'Acknowledgement', schema: () => AckSchema },
  answers: ONE,
  failures: ['not_found', 'already_acknowledged', ...DATABASE_FAILURES],
  handle: async (ctx, { parameters: { id }, body: { position } }, { service }) => {
    const query = await found(ctx, service, id);
    if (position > query.delivered) {
      const message = `must be the id of a delivered event: at most ${query.delivered}, not ${position}`;
      throw refusal([{ path: 'position', message }]);
    }
    if (position < query.position) {
      const reason = `Events up to ${query.position} are acknowledged, so ${position} cannot be acknowledged any more.`;
      throw new CapstanError('already_acknowledged', reason);
    }
    await service.queries.acknowledge(id, position);
    answer(ctx, queryAnswer(await found(ctx, service, id)));
  },
});

export const deleteQuery = route({
  method: 'DELETE',
  path: '/queries/{id}',
  operationId: 'deleteQuery',
  scope: 'read',
  summary: 'Removes a standing query.',
  tag: 'operations',
  parameters: { id: queryId },
  answers: { 200: { description: 'It is removed.', content: envelope('RemovedQuery', RemovedQuerySchema) } },
  failures: ['not_found', ...DATABASE_FAILURES],
  handle: async (ctx, { id }, { service }) => {
    await found(ctx, service, id);
    if (!(await service.queries.remove(id))) throw unknownQuery(id);
    answer(ctx, { id }, 'The query is removed.');
  },
});

/** Returns a query that the caller may use. */
async function found(ctx: HttpContext, { queries }: ServiceView, id: string): Promise<QueryRecord> {
  const ofKey = listedKey(ctx);
  const query = ofKey === null ? undefined : await queries.get(id, ofKey);
  if (query === undefined) throw unknownQuery(id);
  return query;
}

/** The events are those that both the caller and the key of the query may see. */
function consumedBy(ctx: HttpContext, { feed, queries }: ServiceView, query: QueryRecord): Consumed {
  return { query, feed, queries, lets: eventPredicate(storedFilter(query), feed.factsOf), owner: callerOf(ctx).owner };
}

function storedFilter({ filter }: QueryRecord): EventFilter {
  return EventFilterSchema.parse(JSON.parse(filter));
}

async function filterOf(
  { type: types, host, batch, similar, changedMoreThan, ...where }: NewQuery['filter'],
  { results, whyMissing }: ServiceView,
): Promise<EventFilter> {
  const common = { types, host, batch, where, changedMoreThan };
  if (similar === undefined) return common;
  const { to, distance } = similar;
  const capture = await results.get(to);
  if (capture === undefined) {
    const why = await whyMissing(to);
    throw why.code === 'artifact_pending'
      ? why
      : new CapstanError('not_found', `There is no result with the id ${to}.`);
  }
  const { perception_hash: hash } = capture;
  if (hash !== null) return { ...common, similar: { to, hash, distance } };
  const message = `must be a capture with evidence ["perception_hash"], and ${to} has none`;
  throw refusal([{ path: 'filter.similar.to', message }]);
}

function queryAnswer(query: QueryRecord): QueryAnswer {
  return {
    id: query.id,
    filter: shownFilter(storedFilter(query)),
    ...(query.apiKeyName === null ? {} : { api_key_name: query.apiKeyName }),
    created_at: query.createdAt,
    position: query.position,
    delivered: query.delivered,
    acknowledged_at: query.acknowledgedAt,
    notify: [...query.notify],
  };
}

const Dated = z.object({ at: z.iso.datetime() });

async function pendingOf({ query, feed, lets, owner }: Consumed): Promise<QueryAnswer['pending']> {
  const search = { after: query.position, lets, limit: MAX_PENDING, maxPages: MAX_PENDING_PAGES, owner };
  const { events, isAll } = await findEvents(
    feed,
    { ...search, until: AbortSignal.abort() },
    AbortSignal.timeout(READ_MS),
  );
  const [oldest] = events;
  const at = oldest === undefined ? Date.now() : Date.parse(Dated.parse(JSON.parse(oldest.body)).at);
  return { events: events.length, complete: isAll, lag_seconds: Math.max(0, Math.round((Date.now() - at) / 1000)) };
}
