import type { Cluster } from '../cluster/open-cluster.ts';
import { openEventFeed } from '../feed/event-feed.ts';
import type { EventLog } from '../storage/ports/event-log.ts';
import { logRecovered } from './cluster-member.ts';
import { openStorage } from './open-storage.ts';
import type { OpenedParts } from './opened-parts.ts';
import type { StorageConfig } from './service-config.ts';

/** Opens the stores, the log of events and the feed of subscribers. The log of a cluster is shared by its processes. */
export async function openRecords(
  config: StorageConfig,
  { cluster, events, logger }: Pick<OpenedParts, 'cluster' | 'events' | 'logger'>,
) {
  const shared = cluster && (await openSharedRecords(config, { cluster, logger }));
  const storage = shared?.storage ?? (await openStorage(config, logger));
  const eventLog = shared?.eventLog ?? storage.events;
  const feed = openEventFeed(events.addressed$, eventLog, Date.now);
  if (cluster === undefined) await feed.started;
  return { storage, eventLog, sharedLog: shared?.eventLog, feed };
}

/** Opens the stores of a process of a cluster, and the log of its events. `makesIds`: whether it is an api node. */
export async function openSharedRecords(
  config: StorageConfig,
  {
    cluster,
    logger,
    makesIds = true,
  }: Pick<OpenedParts, 'logger'> & { readonly cluster: Cluster; readonly makesIds?: boolean },
) {
  const opened = Promise.withResolvers<EventLog>();
  const storage = await openStorage(config, logger, {
    makesIds,
    logsEvents: false,
    onRecovered: async (record) => logRecovered(await opened.promise, record),
  });
  const eventLog = cluster.openEventLog(storage.eventOutbox);
  opened.resolve(eventLog);
  return { storage, eventLog };
}
