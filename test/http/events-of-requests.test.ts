import { expect, it } from 'vitest';
import { serviceForSuite, siteForSuite } from '../support/for-suite.ts';
import { subscribe, typesOf } from './event-subscriber.ts';

const site = siteForSuite();
const app = serviceForSuite();

it('names the request in every event of its capture, also of one that is refused or answered with an earlier one', async () => {
  const subscriber = await subscribe(`${app.baseUrl}/events?type=capture.*`);
  const shoot = (id: string, url: string) =>
    app.post('/screenshot', { url, cacheMaxAgeMs: 60_000 }, { headers: { 'X-Request-Id': id } });
  await shoot('first', site.url('/short'));
  await shoot('second', site.url('/short'));
  await shoot('third', 'http://10.0.0.1/');
  const events = await subscriber.take(5);
  expect(typesOf(events)).toEqual([
    'capture.queued',
    'capture.started',
    'capture.stored',
    'capture.reused',
    'capture.rejected',
  ]);
  const requests = ['first', 'first', 'first', 'second', 'third'];
  expect(events.map(({ data }) => data)).toMatchObject(requests.map((request_id) => ({ request_id })));
  await subscriber.close();
});
