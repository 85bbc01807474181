import type { NamedKey } from '../capture/named-key.ts';
import type { Cluster } from '../cluster/open-cluster.ts';
import type { Lookup } from '../egress/dns-lookup.ts';
import type { OwnFeed } from '../feed/event-feed.ts';
import type { Comparisons } from '../imaging/comparisons.ts';
import type { Logger } from '../log/log.ts';
import type { Storage } from '../storage/storage.ts';
import type { EventStream } from '../streams/events.ts';

/** The parts that are opened first, with which the others are made. */
export interface OpenedParts {
  readonly logger: Logger;
  readonly lookup: Lookup;
  readonly events: EventStream;
  readonly storage: Storage;
  readonly feed: OwnFeed;
  readonly comparisons: Comparisons;
  /** Undefined in a process that is the whole service. */
  readonly cluster: Cluster | undefined;
  /** Returns the named keys as they are now. */
  readonly namedKeys: () => readonly NamedKey[];
  /** Aborted first when the service stops: nothing new is admitted, and nothing waits for the end of an outage. */
  readonly stopping: AbortController;
}
