import type { MongoServer } from '../support/mongo.ts';
import type { NatsServer } from '../support/nats.ts';

export interface Servers {
  readonly mongo: Pick<MongoServer, 'url'>;
  readonly nats: NatsServer;
}

/** Flags of `capstan serve` that a busy machine needs, which would otherwise refuse captures or cut them short. */
const FOR_BUSY_MACHINES = ['--min-free-memory', '0', '--max-loop-delay-ms', '600000', '--timeout-ms', '120000'];

/** Returns the flags of `capstan serve` for a member of a cluster. `name`: name of the cluster and of its database. */
export function memberFlags({ nats, mongo }: Servers, name: string): readonly string[] {
  const servers = ['--nats-url', nats.url, '--cluster-name', name, '--mongo-url', `${mongo.url}${name}`];
  return [...servers, ...FOR_BUSY_MACHINES];
}
