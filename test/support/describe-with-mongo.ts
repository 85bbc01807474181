import { afterAll, beforeAll, describe } from 'vitest';
import { type MongoServer, startMongo, whyNoMongo } from './mongo.ts';
import { relayedMongo, sharedMongo } from './shared-mongo.ts';

const missing = await whyNoMongo();
const skipped = missing === undefined ? '' : ` (skipped: ${missing})`;
/** `npm test` skips no test, and says once that those with MongoDB do not run. */
const isLeftOut = missing !== undefined && process.env.ONLY_NPM !== undefined;

type Suite = (server: Omit<MongoServer, 'remove'>) => void;

/** Describes a suite with a MongoDB server of its own, which runs from its first test. Skipped where there is none. */
export function describeWithMongo(name: string, suite: Suite): void {
  describeWith(startMongo, name, suite);
}

/**
 * Describes a suite with an address of its own of the MongoDB server that all test files share, for tests in which the
 * server cannot be reached. Skipped where there is none.
 */
export function describeWithRelayedMongo(name: string, suite: Suite): void {
  describeWith(relayedMongo, name, suite);
}

function describeWith(start: () => Promise<MongoServer>, name: string, suite: Suite): void {
  if (isLeftOut) return;
  describe.skipIf(missing !== undefined)(`${name}${skipped}`, () => {
    let started: MongoServer | undefined;

    beforeAll(async () => {
      started = await start();
    });

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

/**
 * Describes a suite with the MongoDB server that all test files share. Skipped where there is none. `url` returns the
 * beginning of the suite's URLs from its first test on.
 */
export function describeWithSharedMongo(name: string, suite: (url: () => string) => void): void {
  if (isLeftOut) return;
  describe.skipIf(missing !== undefined)(`${name}${skipped}`, () => {
    let url: string | undefined;

    beforeAll(async () => {
      url = await sharedMongo();
    });

    suite(() => {
      if (url === undefined) throw new Error('the server runs from the first test on');
      return url;
    });
  });
}
