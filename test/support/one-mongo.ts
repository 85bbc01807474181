import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { MongoServer } from './mongo.ts';

/** The socket at which a test file learns the URL of the run's MongoDB server. */
export const mongoSocket = (): string => join(tmpdir(), 'mongo.socket');

/**
 * Gives the run one MongoDB server, which is started when the first test file asks for it, and answers each with its
 * URL or with the reason for which it did not start. Returns what stops it.
 */
export function setup(): () => Promise<void> {
  let starting: Promise<MongoServer> | undefined;
  const door = createServer((asker) => {
    asker.on('error', () => {});
    starting ??= import('./mongo.ts').then(({ startMongo }) => startMongo());
    starting.then(
      ({ url }) => asker.end(url),
      (error) => asker.end(String(error)),
    );
  }).listen(mongoSocket());
  return async () => {
    door.close();
    const server = await starting?.catch(() => undefined);
    await server?.remove();
  };
}
