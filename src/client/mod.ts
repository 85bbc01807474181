import { type Ask, dataOf, listOf, PAGE_LENGTH, type Post, readAnswer } from './answers.ts';
import { captureBatch } from './batch.ts';
import { receiveEvents } from './events.ts';
import { consumeQuery } from './queries.ts';
import { type Receivers, receiversOf } from './receivers.ts';
import { followJob, startScan } from './scans.ts';
import { type ClientOptions, type Send, sender, withRetries } from './send.ts';
import type {
  BatchLine,
  CallOptions,
  CaptureRequest,
  CaptureResult,
  Comparison,
  DetailedCaptureResult,
  EventFilter,
  Feed,
  FeedRequest,
  GroupedBy,
  Groups,
  Job,
  MarkedCaptures,
  MarksChange,
  Query,
  QueryFilter,
  ReceivedEvent,
  ResultConditions,
  Scan,
  ScanSettings,
  SharedLink,
  ShareRequest,
  SimilarResult,
  Stability,
  View,
} from './types.ts';
import { type Watches, watchesOf } from './watches.ts';

export type { Receivers } from './receivers.ts';
export { CapstanFailure, type ClientOptions } from './send.ts';
export type * from './types.ts';
export type { Watches } from './watches.ts';
export { verifyWebhook, type WebhookMessage } from './webhook.ts';

const DEFAULT_RETRIES = 5;

export interface CapstanClient {
  /** Captures a page. Repeated after temporary failures, without capturing twice. */
  capture(request: CaptureRequest, options?: CallOptions): Promise<DetailedCaptureResult>;
  /** Captures pages, and yields each outcome as soon as it is known. */
  batch(
    requests: Iterable<CaptureRequest> | AsyncIterable<CaptureRequest>,
    options?: CallOptions & { readonly concurrency?: number },
  ): AsyncGenerator<BatchLine, void, undefined>;
  /** Hands pages over to be captured later, also after a restart of the service. */
  startJob(requests: readonly CaptureRequest[], options?: CallOptions): Promise<Job>;
  /**
   * Begins to capture the targets of a list in any form, which is sent as it is read. Its outcomes are those of a job.
   */
  scan(list: string | ReadableStream<Uint8Array>, settings?: ScanSettings, options?: CallOptions): Promise<Scan>;
  /**
   * Yields the outcomes of a job in the order of its requests, as they come, until it has ended. `onProgress`: called
   * with the job each time that it was asked.
   */
  outcomes(
    id: string,
    options?: CallOptions & { readonly onProgress?: (job: Job) => void },
  ): AsyncGenerator<BatchLine, void, undefined>;
  /** Returns a job with its first outcomes. */
  job(id: string, options?: CallOptions): Promise<Job>;
  /** Returns the newest jobs, without outcomes. */
  jobs(options?: CallOptions): Promise<readonly Job[]>;
  /** Cancels a job. Its results are kept. */
  cancelJob(id: string, options?: CallOptions): Promise<Job>;
  /** Yields stored results, newest first; reads a page of them when it is needed. */
  results(conditions?: ResultConditions, options?: CallOptions): AsyncGenerator<CaptureResult, void, undefined>;
  /** Returns captures that look like one, nearest first: at most `distance` bits of 64 differ. @default 5 */
  similar(id: number, options?: CallOptions & { readonly distance?: number }): Promise<readonly SimilarResult[]>;
  /** Returns what results have in common, the largest groups first, each with its newest result. */
  groups(by: GroupedBy, conditions?: Omit<ResultConditions, 'url'>, options?: CallOptions): Promise<Groups>;
  /** Returns one result with its evidence. */
  result(id: number, options?: CallOptions): Promise<DetailedCaptureResult>;
  /** Returns the image of a capture, or another of its files. */
  image(id: number, options?: CallOptions & { readonly view?: View }): Promise<Response>;
  /** Yields events as they happen, over restarts of the service and without a gap, until the signal is aborted. */
  events(filter?: EventFilter, options?: CallOptions): AsyncGenerator<ReceivedEvent, void, undefined>;
  /** Keeps a filter over the events, and the position of its consumers. `after`: the id of an event. @default now */
  createQuery(filter?: QueryFilter, options?: CallOptions & { readonly after?: number }): Promise<Query>;
  /** Returns the newest standing queries. */
  queries(options?: CallOptions): Promise<readonly Query[]>;
  /** Returns a standing query: its position, and what is not acknowledged. */
  query(id: string, options?: CallOptions): Promise<Query>;
  /**
   * Yields the events of a standing query that are not acknowledged, then new ones, until the signal is aborted. An
   * event is processed when you take the next one, and then acknowledged; the others come again.
   */
  consume(id: string, options?: CallOptions): AsyncGenerator<ReceivedEvent, void, undefined>;
  /** Removes a standing query. */
  removeQuery(id: string, options?: CallOptions): Promise<void>;
  /** Says what differs between two captures. */
  compare(a: number, b: number, options?: CallOptions & { readonly ignore?: readonly string[] }): Promise<Comparison>;
  /** Finds the elements of a page that look different from capture to capture, and why. Captures it several times. */
  stability(request: CaptureRequest, options?: CallOptions): Promise<Stability>;
  /** Pages that are captured again and again. */
  readonly watches: Watches;
  readonly receivers: Receivers;
  /** Changes the labels, the note or the hold of a capture. */
  mark(id: number, change: MarksChange, options?: CallOptions): Promise<CaptureResult>;
  /**
   * Changes those of the captures that meet conditions, at most 1000 in a call; `next` is the `cursor` for the rest.
   */
  markAll(
    conditions: ResultConditions & { readonly cursor?: string },
    change: MarksChange,
    options?: CallOptions,
  ): Promise<MarkedCaptures>;
  /** Makes a link to a capture that needs no API key. */
  share(id: number, request?: ShareRequest, options?: CallOptions): Promise<SharedLink>;
  /** Yields the shared links, of one capture or all, newest first. */
  sharedLinks(conditions?: CallOptions & { readonly capture?: number }): AsyncGenerator<SharedLink, void, undefined>;
  /** Ends a shared link. */
  revokeLink(id: string, options?: CallOptions): Promise<void>;
  /** Makes a feed that needs no API key. */
  createFeed(request: FeedRequest, options?: CallOptions): Promise<Feed>;
  /** Yields the feeds, newest first. */
  feeds(options?: CallOptions): AsyncGenerator<Feed, void, undefined>;
  /** Ends a feed. */
  revokeFeed(id: string, options?: CallOptions): Promise<void>;
  /** Removes a capture with its files. */
  remove(id: number, options?: CallOptions): Promise<void>;
}

/** Returns a client of a service. It holds no connection and needs no end. */
export function createClient(options: ClientOptions): CapstanClient {
  const { retries = DEFAULT_RETRIES } = options;
  const once = sender(options);
  const send: Send = (path, call) => withRetries(retries, call?.signal, () => once(path, call));
  const ask: Ask = (path, call) => withRetries(retries, call?.signal, async () => readAnswer(await once(path, call)));
  const post: Post = (path, body, headers = {}, signal) =>
    // With the key, a request that was done although its answer was lost is not done again.
    ask(path, {
      method: 'POST',
      body: JSON.stringify(body),
      headers: { 'Idempotency-Key': randomKey(), ...headers },
      signal,
    });
  return {
    capture: async (request, { signal } = {}) => dataOf(post('/screenshot', request, {}, signal)),
    batch: (requests, given = {}) => captureBatch(once, requests, { retries, ...given }),
    startJob: async (requests, { signal } = {}) =>
      dataOf(post('/batch', { requests }, { Prefer: 'respond-async' }, signal)),
    scan: (list, settings = {}, call = {}) => startScan(once, list, settings, call),
    outcomes: (id, call = {}) => followJob(ask, id, call),
    job: async (id, call) => dataOf(ask(`/jobs/${encodeURIComponent(id)}`, call)),
    jobs: async (call) => dataOf(ask(`/jobs?limit=${PAGE_LENGTH}`, call)),
    cancelJob: async (id, call) => dataOf(ask(`/jobs/${encodeURIComponent(id)}`, { ...call, method: 'DELETE' })),
    results: (conditions = {}, call = {}) => listResults(ask, conditions, call),
    similar: async (id, { distance, signal } = {}) => {
      const near = distance === undefined ? '' : `&distance=${distance}`;
      return dataOf(ask(`/results/similar/${id}?limit=${PAGE_LENGTH}${near}`, { signal }));
    },
    groups: async (by, conditions = {}, call) =>
      dataOf(ask(`/results/groups?${new URLSearchParams({ by, ...conditions })}`, call)),
    result: async (id, call) => dataOf(ask(`/results/${id}`, call)),
    image: (id, { view = 'image', signal } = {}) =>
      send(`/screenshot/${id}?view=${view}`, { headers: { Accept: '*/*' }, signal }),
    events: (filter = {}, call = {}) => receiveEvents(once, filter, call),
    createQuery: async (filter = {}, { after, signal } = {}) =>
      dataOf(post('/queries', { filter, ...(after !== undefined && { after }) }, {}, signal)),
    queries: async (call) => dataOf(ask(`/queries?limit=${PAGE_LENGTH}`, call)),
    query: async (id, call) => dataOf(ask(`/queries/${encodeURIComponent(id)}`, call)),
    consume: (id, call = {}) => consumeQuery(once, id, call),
    removeQuery: async (id, call) =>
      void (await send(`/queries/${encodeURIComponent(id)}`, { ...call, method: 'DELETE' })),
    compare: async (a, b, { ignore = [], signal } = {}) => {
      const query = new URLSearchParams({ a: `${a}`, b: `${b}` });
      for (const each of ignore) query.append('ignore', each);
      return dataOf(ask(`/compare?${query}`, { signal }));
    },
    stability: (request, { signal } = {}) => dataOf(post('/captures/stability', request, {}, signal)),
    watches: watchesOf(send, ask, post),
    receivers: receiversOf(send, ask, post),
    mark: async (id, change, call) =>
      dataOf(ask(`/screenshot/${id}`, { ...call, method: 'PATCH', body: JSON.stringify(change) })),
    markAll: async (conditions, change, call) => {
      const query = new URLSearchParams({ limit: `${PAGE_LENGTH}`, ...conditions });
      return dataOf(ask(`/results?${query}`, { ...call, method: 'PATCH', body: JSON.stringify(change) }));
    },
    share: async (id, request = {}, { signal } = {}) => dataOf(post(`/screenshot/${id}/share`, request, {}, signal)),
    sharedLinks: ({ capture, ...call } = {}) => listOf(ask, '/shares', { capture }, call),
    revokeLink: async (id, call) =>
      void (await send(`/shares/${encodeURIComponent(id)}`, { ...call, method: 'DELETE' })),
    createFeed: async (request, { signal } = {}) => dataOf(post('/feeds', request, {}, signal)),
    feeds: (call = {}) => listOf(ask, '/feeds', {}, call),
    revokeFeed: async (id, call) =>
      void (await send(`/feeds/${encodeURIComponent(id)}`, { ...call, method: 'DELETE' })),
    remove: async (id, call) => void (await send(`/screenshot/${id}`, { ...call, method: 'DELETE' })),
  };
}

function listResults(
  ask: Ask,
  conditions: ResultConditions,
  call: CallOptions,
): AsyncGenerator<CaptureResult, void, undefined> {
  const path =
    conditions.url !== undefined ? '/results/by-url' : conditions.host !== undefined ? '/results/by-host' : '/results';
  return listOf(ask, path, conditions, call);
}

/** Not by `randomUUID`, which browsers have on secure origins alone. */
function randomKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
