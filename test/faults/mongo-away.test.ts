import { join } from 'node:path';
import { expect, it } from 'vitest';
import { ground, serve } from '../commands/capstan-process.ts';
import { describeWithMongo } from '../support/describe-with-mongo.ts';
import { siteForSuite } from '../support/for-suite.ts';
import { captureMany, captureUntilOneWaits, expectAllWritten } from './away.ts';
import { stats } from './client.ts';
import { killInRounds } from './killed-rounds.ts';
import { createRandom, seedOfRun } from './random.ts';

describeWithMongo('a service with MongoDB', (mongo) => {
  const site = siteForSuite();
  it('keeps capturing while the server is stopped, answers queries with 503, and writes each waiting record once when it is back', async () => {
    const place = await ground();
    const service = await serve(
      ['--allow-targets', '127.0.0.1', '--max-concurrent', '2', '--mongo-url', `${mongo.url}stopped`],
      place.options,
    );
    const url = site.url('/title?t=kept');
    const before = await captureMany(service, url, 1);
    await mongo.stop();
    const during = [...(await captureUntilOneWaits(service, url)), ...(await captureMany(service, url, 2))];
    for (const question of ['/results', '/results/by-host?host=127.0.0.1', `/results/${before[0]?.id}`]) {
      const answer = await fetch(service.url + question);
      expect({ status: answer.status, body: await answer.json() }).toMatchObject({
        status: 503,
        body: { code: 'database_unavailable' },
      });
    }
    expect((await stats(service.url)).store.outbox).toBe(during.length);
    await mongo.start();
    await expectAllWritten(service, join(place.path, 'data'), [...before, ...during]);
    service.child.kill('SIGTERM');
    expect(await service.ended).toMatchObject({ code: 0 });
  });

  const random = createRandom(seedOfRun());

  it(`keeps every record in MongoDB and every file that was answered before kill -9 (seed ${random.seed})`, async () => {
    const place = await ground();
    const flags = ['--mongo-url', `${mongo.url}killed`];
    expect(await killInRounds({ site, place, flags, rounds: [() => undefined], random })).toBeGreaterThanOrEqual(2);
  });

  it(`keeps every capture in GridFS that was answered before kill -9 (seed ${random.seed})`, async () => {
    const place = await ground();
    const flags = ['--mongo-url', `${mongo.url}killed-gridfs`, '--artifacts', 'gridfs'];
    const rounds = [() => undefined, () => undefined];
    expect(await killInRounds({ site, place, flags, rounds, random })).toBeGreaterThanOrEqual(2);
  });
});
