import type { Cluster } from '../../cluster/open-cluster.ts';
import { readRetainDays } from '../../config/mod.ts';
import type { StorageConfig } from '../../config/slices.ts';
import { openEventFeed } from '../../feed/event-feed.ts';
import type { Logger } from '../../log/log.ts';
import type { EventLog } from '../../storage/ports/event-log.ts';
import { createStorage, type Storage, type StorageOptions } from '../../storage/storage.ts';
import { logRecovered } from '../capturing/cluster-member.ts';
import type { OpenedParts } from '../opened-parts.ts';

/** Opens the stores, the log of events and the feed of subscribers. The log of a cluster is shared by its processes. */
export async function openRecords(
  config: StorageConfig,
  { cluster, events, logger }: Pick<OpenedParts, 'cluster' | 'events' | 'logger'>,
) {
  const shared = cluster && (await openSharedRecords(config, { cluster, logger }));
  const storage = shared?.storage ?? (await openStorage(config, logger));
  const eventLog = shared?.eventLog ?? storage.events;
  const feed = openEventFeed(events.addressed$, eventLog);
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

/** Opens the configured stores, and logs their failures and changes of state. */
function openStorage(
  config: StorageConfig,
  logger: Logger,
  options: Pick<StorageOptions, 'makesIds' | 'logsEvents' | 'onRecovered'> = {},
): Promise<Storage> {
  return createStorage({
    ...config,
    ...options,
    onState: (state, reason) => {
      if (state === 'up') logger.info('the database is available');
      else logger.error({ reason }, state === 'damaged' ? 'the database is damaged' : 'the database is unavailable');
    },
    onStoreFailure: (failure) => {
      if (failure === undefined) logger.info('captures can be stored again');
      else logger.error({ code: failure.code, err: failure.cause }, `captures cannot be stored: ${failure.message}`);
    },
    onWarning: (text) => logger.warn(text),
    onProblem: (problem) => logger.error({ err: problem }, 'storage reported a problem'),
    retain: { ...readRetainDays(config.retainDays), bytes: config.retainBytes },
    onRetained: (removed) => logger.info(removed, 'retention removed captures'),
    onHeld: (bytes) => {
      if (bytes > 0)
        logger.warn({ bytes }, 'more bytes than --retain-bytes are kept by holds: lift holds, or raise the limit');
      else logger.info('holds keep no more bytes than --retain-bytes');
    },
    onPostponed: (captures) =>
      logger.warn(
        { captures },
        'one pass cannot remove all captures that are older than --retain-days: removal continues in an hour. If the clock or the option is wrong, correct it before then',
      ),
  });
}
