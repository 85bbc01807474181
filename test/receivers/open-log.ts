import { openCluster } from '../../src/cluster/open-cluster.ts';
import { createFileEventOutbox } from '../../src/storage/files/file-event-outbox.ts';
import type { EventLog } from '../../src/storage/ports/event-log.ts';
import { openSqlite } from '../../src/storage/sqlite/open.ts';
import { clusterConfig } from '../cluster/cluster-config.ts';

export interface OpenLog {
  readonly log: EventLog;
  close(): Promise<void>;
}

/** Opens the log of one process by the path of its file, or that of a cluster by a place of `logOfCluster`. */
export async function openLog(place: string): Promise<OpenLog> {
  const { protocol, host, pathname, searchParams } = new URL(place, 'file:');
  if (protocol !== 'nats:') {
    const database = await openSqlite({ path: place });
    return { log: database.eventLog({ clock: Date.now, node: () => 1 }), close: () => database.close() };
  }
  const cluster = openCluster(
    clusterConfig({
      natsUrl: [`nats://${host}`],
      clusterName: pathname.slice(1),
      role: 'api',
      clusterMaxConcurrent: 1,
      maxQueue: 1,
    }),
    {
      onState: () => {},
      onProblem: () => {},
      onBadMessages: () => {},
    },
  );
  const log = cluster.openEventLog(createFileEventOutbox(searchParams.get('directory') ?? ''));
  cluster.start();
  return { log, close: () => cluster.close() };
}

/** `directory`: where events of the process wait while NATS is away. */
export function logOfCluster(natsUrl: string, name: string, directory: string): string {
  return `${natsUrl}/${name}?${new URLSearchParams({ directory })}`;
}
