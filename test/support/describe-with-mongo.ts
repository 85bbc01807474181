import { afterAll, beforeAll, describe } from 'vitest';
import { type MongoServer, startMongo, whyNoMongo } from './mongo.ts';

const missing = await whyNoMongo();
const skipped = missing === undefined ? '' : ` (skipped: ${missing})`;

/** Describes a suite with a MongoDB server of its own, which runs from its first test. Skipped where there is none. */
export function describeWithMongo(name: string, suite: (server: Omit<MongoServer, 'remove'>) => void): void {
  describe.skipIf(missing !== undefined)(`${name}${skipped}`, () => {
    let started: MongoServer | undefined;

    beforeAll(async () => {
      started = await startMongo();
    }, 120_000);

    afterAll(() => started?.remove());

    function server(): MongoServer {
      if (started === undefined) throw new Error('the server runs from the first test on');
      return started;
    }

    suite({
      get url() {
        return server().url;
      },
      stop: () => server().stop(),
      start: () => server().start(),
    });
  });
}
