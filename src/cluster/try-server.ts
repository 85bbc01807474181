import { jetstreamManager } from '@nats-io/jetstream';
import { type ConnectionOptions, connect } from '@nats-io/transport-node';

export { connectionOptions } from './servers.ts';

/** Connects once with the credentials of the service, and uses JetStream. Rejects with the reason when either fails. */
export async function logIn(options: ConnectionOptions, timeoutMs: number): Promise<void> {
  const connection = await connect({ ...options, reconnect: false, timeout: timeoutMs, noAsyncTraces: true });
  try {
    await (await jetstreamManager(connection, { checkAPI: false, timeout: timeoutMs })).getAccountInfo();
  } finally {
    await connection.close();
  }
}
