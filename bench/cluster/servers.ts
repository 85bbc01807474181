import { type MongoServer, startMongo, whyNoMongo } from '../../test/support/mongo.ts';
import { type NatsServer, startNats, whyNoNats } from '../../test/support/nats.ts';

/** The servers of a cluster, as the tests start them. */
export interface Servers extends AsyncDisposable {
  readonly nats: NatsServer;
  readonly mongo: MongoServer;
}

export async function startServers(): Promise<Servers> {
  const missing = (await whyNoNats()) ?? (await whyNoMongo());
  if (missing !== undefined) throw new Error(`no cluster can run here: ${missing}`);
  const nats = await startNats();
  const mongo = await startMongo();
  return {
    nats,
    mongo,
    async [Symbol.asyncDispose]() {
      await mongo.remove();
      await nats.remove();
    },
  };
}
