import { CapstanError } from '../../capture/errors.ts';
import type { EventFeed, FeedPage } from '../../feed/event-feed.ts';
import { isVisible } from '../../feed/event-filter.ts';
import { infoIfReadable } from '../../storage/failures/store-errors.ts';
import type { CaptureService, ServiceView } from '../capture-service.ts';
import { ownArtifacts, ownResults } from './own-stores.ts';
import type { SuggestLabels } from './suggest-labels.ts';

/*
 * With --isolate-keys, a client sees only the captures of its own key. Routes are given this view in place of the
 * service, so that none of them can forget to ask whose capture it is.
 */

/** Members that are the same in every view. A new member does not compile until it is here, or the view filters it. */
type Unfiltered =
  // Captures and jobs that are made belong to the caller, and routes find only the jobs of the caller.
  | 'submit'
  | 'submitBatch'
  | 'jobs'
  // Routes show the queries, receivers, dead letters and links of the caller alone.
  | 'queries'
  | 'receivers'
  | 'sharedLinks'
  // A link shows the captures of the key that made it.
  | 'shared'
  | 'stillShared'
  // Idempotency keys include the API key; thumbnails and comparisons are made of captures that the view has found.
  | 'idempotency'
  | 'thumbnails'
  | 'comparisons'
  // These tell nothing about a capture.
  | 'readiness'
  | 'reads'
  | 'tallies'
  | 'takesCallbacks'
  | 'admitCallback'
  | 'refuseUnread'
  | 'stats'
  | 'pressure'
  | 'loadAfter'
  // Of the whole service: the scope of a key says whether a client may use it.
  | 'setLimits';

/** No capture has this id. */
const NO_CAPTURE = Number.MAX_SAFE_INTEGER;

/** Returns the view of one key. `key`: its name; `''`: the captures that no named key requested. */
export function ownCaptures(service: CaptureService, key: string, suggestLabels: SuggestLabels): ServiceView {
  /**
   * Returns the id, or that of no capture in place of a capture of another key: nothing of it is read, so that it takes
   * as long as one that does not exist. Captures that the database does not know are told apart by their files.
   */
  const seen = async (id: number): Promise<number> => {
    const owner = await service.results.keyOf(id).catch(() => undefined);
    return owner === undefined || owner === key ? id : NO_CAPTURE;
  };
  const results = ownResults(service.results, key, seen);
  const artifacts = ownArtifacts(service.artifacts, { results, key, seen });
  const isOwn = async (id: number) =>
    (await infoIfReadable(artifacts, id, { undelivered: true })) !== undefined || (await results.get(id)) !== undefined;
  const filtered: Omit<ServiceView, Unfiltered> = {
    results,
    artifacts,
    feed: ownFeed(service.feed, key),
    watches: ownWatches(service.watches, key),
    // Captures that no named key requested cannot be listed.
    suggestLabels: async (text, limit) => (key === '' ? [] : suggestLabels(text, limit, key)),
    inFlight: (wanted) => service.inFlight({ ...wanted, ofKey: key }),
    whyMissing: async (id) => {
      const why = await service.whyMissing(await seen(id));
      // It is the answer for every unknown id, and so tells nothing about the captures of others.
      const isShown = why.code === 'artifact_pending' || (await isOwn(id).catch(() => false));
      return isShown ? why : new CapstanError('not_found', `There is no screenshot with the id ${id}.`);
    },
    remove: async (id, by) => ((await isOwn(id)) ? service.remove(id, by) : false),
    mark: async (id, change, by) => ((await isOwn(id)) ? service.mark(id, change, by) : undefined),
  };
  const unfiltered: Pick<ServiceView, Unfiltered> = service;
  // Inherited rather than copied: `readiness` and `reads` change.
  return Object.setPrototypeOf(filtered, unfiltered);
}

const NO_RUNS = { items: [], isCut: false };

function ownWatches(watches: ServiceView['watches'], key: string): ServiceView['watches'] {
  const ifOwn = async <T>(id: number, work: () => Promise<T>, otherwise: T): Promise<T> =>
    (await watches.get(id, key)) === undefined ? otherwise : work();
  return {
    add: watches.add,
    get: (id) => watches.get(id, key),
    list: (wanted) => watches.list({ ...wanted, ofKey: key }),
    written: (id) => ifOwn(id, () => watches.written(id), undefined),
    change: (id, next) => ifOwn(id, () => watches.change(id, next), undefined),
    pause: (id, isPaused) => ifOwn(id, () => watches.pause(id, isPaused), undefined),
    run: (id) => ifOwn(id, () => watches.run(id), undefined),
    remove: (id) => ifOwn(id, () => watches.remove(id), false),
    history: (id, limit, before) => ifOwn(id, () => watches.history(id, limit, before), NO_RUNS),
    news: (watch) => ifOwn(watch.id, () => watches.news(watch), []),
  };
}

function ownFeed(feed: EventFeed, key: string): EventFeed {
  const own = (page: FeedPage): FeedPage => ({
    ...page,
    events: page.events.filter((event) => isVisible(event, key)),
  });
  const ownPage = (page: FeedPage | Promise<FeedPage>) => (page instanceof Promise ? page.then(own) : own(page));
  return {
    started: feed.started,
    get newest() {
      return feed.newest;
    },
    get ended() {
      return feed.ended;
    },
    listen: ({ events, end }) =>
      feed.listen({ events: (all) => events(all.filter((event) => isVisible(event, key))), end }),
    after: (cursor, limit, owner) => ownPage(feed.after(cursor, limit, owner)),
    read: (cursor, limit, owner, signal) => ownPage(feed.read(cursor, limit, owner, signal)),
    factsOf: feed.factsOf,
    publishedStored: () => feed.publishedStored(),
  };
}
