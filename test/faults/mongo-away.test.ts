import { join } from 'node:path';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { FeedSchema } from '../../src/capture/finding/feed.ts';
import { SharedLinkSchema } from '../../src/capture/finding/shared-link.ts';
import { ground, serve } from '../commands/capstan-process.ts';
import { jsonOf } from '../http/feed-readers.ts';
import {
  describeWithMongo,
  describeWithRelayedMongo,
  describeWithSharedMongo,
} from '../support/describe-with-mongo.ts';
import { siteForSuite } from '../support/for-suite.ts';
import { captureMany, captureUntilOneWaits, expectAllWritten } from './away.ts';
import { capture, post, stats } from './client.ts';
import { killInRounds } from './killed-rounds.ts';
import { createRandom, seedOfRun } from './random.ts';

const Feed = z.object({ data: FeedSchema });
const Share = z.object({ data: SharedLinkSchema });

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
});

describeWithRelayedMongo('a service with GridFS', (mongo) => {
  const site = siteForSuite();

  it('answers feeds, shared links and their pictures in GridFS with 503 while the server is stopped, and in full when it is back', async () => {
    const place = await ground();
    const database = ['--mongo-url', `${mongo.url}pictures`, '--artifacts', 'gridfs'];
    const flags = ['--allow-targets', '127.0.0.1', '--signing-key', 'a-signing-key-of-at-least-32-characters'];
    const service = await serve([...flags, ...database], place.options);
    const { result } = await capture(service.url, { url: site.url('/title?t=kept'), labels: ['kept'] });
    await expect.poll(async () => (await stats(service.url)).store.outbox).toBe(0);
    const feed = Feed.parse(await (await post(`${service.url}/feeds`, { label: 'kept' })).json()).data;
    const share = { view: 'image' };
    const shared = Share.parse(await (await post(`${service.url}/screenshot/${result?.id}/share`, share)).json()).data;
    const { items } = await jsonOf({ call: (target) => fetch(service.url + target) }, feed.json);
    const picture = items[0]?.attachments?.[0]?.url ?? '';
    const answers = () =>
      Promise.all(
        [feed.atom, picture, items[0]?.url ?? '', shared.link].map(async (url) => {
          const answer = await fetch(url);
          return [answer.status, (await answer.arrayBuffer()).byteLength, answer.headers.get('Cache-Control')] as const;
        }),
      );
    const before = await answers();
    expect(before.map(([status]) => status)).toEqual([200, 200, 200, 200]);
    await mongo.stop();
    expect((await answers()).map(([status, , cached]) => [status, cached])).toEqual(Array(4).fill([503, 'no-store']));
    await mongo.start();
    // The last one may be cached until it expires.
    const sizes = async () => (await answers()).map(([status, length]) => [status, length]);
    await expect.poll(sizes).toEqual(before.map(([status, length]) => [status, length]));
    service.child.kill('SIGTERM');
    expect(await service.ended).toMatchObject({ code: 0 });
  });
});

describeWithSharedMongo('a service with MongoDB that is killed', (url) => {
  const site = siteForSuite();
  const random = createRandom(seedOfRun());

  it(`keeps every record in MongoDB and every file that was answered before kill -9 (seed ${random.seed})`, async () => {
    const place = await ground();
    const flags = ['--mongo-url', `${url()}killed`];
    expect(await killInRounds({ site, place, flags, rounds: [() => undefined], random })).toBeGreaterThanOrEqual(2);
  });

  it(`keeps every capture in GridFS that was answered before kill -9 (seed ${random.seed})`, async () => {
    const place = await ground();
    const flags = ['--mongo-url', `${url()}killed-gridfs`, '--artifacts', 'gridfs'];
    const rounds = [() => undefined, () => undefined];
    expect(await killInRounds({ site, place, flags, rounds, random })).toBeGreaterThanOrEqual(2);
  });
});
