import { filter } from 'rxjs';
import { CapstanError } from '../../capture/errors.ts';
import type { EventFeed, FeedPage } from '../../feed/event-feed.ts';
import { isVisible } from '../../feed/event-filter.ts';
import { infoIfReadable } from '../../storage/failures/store-errors.ts';
import type { Watches } from '../../watches/watches.ts';
import type { CaptureService } from '../capture-service.ts';
import { ownArtifacts, ownResults } from './own-stores.ts';
import type { SuggestLabels } from './suggest-labels.ts';

/*
 * With --isolate-keys, a client sees only the captures of its own key. Routes are given this view in place of the
 * service, so that none of them can forget to ask whose capture it is. Every member is named: a new one does not
 * compile until it is decided whether it must be filtered.
 */

/** No capture has this id. */
const NO_CAPTURE = Number.MAX_SAFE_INTEGER;

/** Returns the view of one key. `key`: its name; `''`: the captures that no named key requested. */
export function ownCaptures(service: CaptureService, key: string, suggestLabels: SuggestLabels): CaptureService {
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
  return {
    results,
    artifacts,
    feed: ownFeed(service.feed, key),
    watches: ownWatches(service.watches, key),
    events$: service.events$.pipe(filter((event) => isVisible(event, key))),
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

    // Captures and jobs that are made belong to the caller, and routes find only the jobs of the caller.
    submit: service.submit,
    submitBatch: service.submitBatch,
    jobs: service.jobs,
    // Routes show the queries of the caller alone.
    queries: service.queries,
    // Routes show the receivers of the caller, those of the operator, and dead letters of the caller alone.
    receivers: service.receivers,
    // Routes show the links of the caller alone, and a link shows the captures of the key that made it.
    sharedLinks: service.sharedLinks,
    shared: service.shared,
    stillShared: service.stillShared,
    // Idempotency keys include the API key; thumbnails and comparisons are made of captures that the view has found.
    idempotency: service.idempotency,
    thumbnails: service.thumbnails,
    comparisons: service.comparisons,
    // These tell nothing about a capture.
    get readiness() {
      return service.readiness;
    },
    get reads() {
      return service.reads;
    },
    tallies: service.tallies,
    takesCallbacks: service.takesCallbacks,
    admitCallback: service.admitCallback,
    started: service.started,
    refuseUnread: service.refuseUnread,
    stats: service.stats,
    pressure: service.pressure,
    loadAfter: service.loadAfter,
    // Of the whole service: the scope of a key says whether a client may use them.
    onlyOf: service.onlyOf,
    setLimits: service.setLimits,
    reload: service.reload,
    kill: service.kill,
    announceStop: service.announceStop,
    stop: service.stop,
  };
}

const NO_RUNS = { items: [], isCut: false };

function ownWatches(watches: Watches, key: string): Watches {
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
    stop: watches.stop,
  };
}

function ownFeed(feed: EventFeed, key: string): EventFeed {
  const ownPage = (page: FeedPage): FeedPage => ({
    ...page,
    events: page.events.filter((event) => isVisible(event, key)),
  });
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
    after: (cursor, limit, owner) => {
      const page = feed.after(cursor, limit, owner);
      return page instanceof Promise ? page.then(ownPage) : ownPage(page);
    },
    read: (cursor, limit, owner, signal) => {
      const page = feed.read(cursor, limit, owner, signal);
      return page instanceof Promise ? page.then(ownPage) : ownPage(page);
    },
    factsOf: feed.factsOf,
    kept: () => feed.kept(),
    stored: () => feed.stored(),
    close: () => feed.close(),
  };
}
