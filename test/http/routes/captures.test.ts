import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { InFlightSchema } from '../../../src/capture/operation/in-flight.ts';
import { serviceForSuite, siteForSuite } from '../../support/for-suite.ts';

const Listed = z.object({ data: z.array(InFlightSchema) });

describe('GET /captures', () => {
  const site = siteForSuite();
  const app = serviceForSuite({ maxConcurrent: 1 });

  const list = async (query = '') => Listed.parse(await (await app.call(`/captures${query}`)).json()).data;

  it('lists captures with their queue position or phase, and finds a capture by its request id', async () => {
    const abort = new AbortController();
    const send = (name: string) =>
      app
        .post(
          '/screenshot',
          { url: site.url(`/hang?${name}`) },
          { signal: abort.signal, headers: { 'X-Request-Id': name } },
        )
        .catch(() => undefined);
    const sent = [send('first')];
    await expect.poll(() => list()).toMatchObject([{ state: 'running', phase: 'navigate', position: null }]);
    sent.push(send('second'));
    await expect.poll(() => list()).toHaveLength(2);
    sent.push(send('third'));
    await expect.poll(() => list()).toHaveLength(3);

    const [first, second, third] = await list();
    expect(first).toMatchObject({ request_id: 'first', url: site.url('/hang?first'), host: site.host, batch: null });
    expect(second).toMatchObject({ request_id: 'second', state: 'queued', position: 1, phase: null, running_ms: 0 });
    expect(third).toMatchObject({ request_id: 'third', state: 'queued', position: 2 });
    expect(await list('?request_id=third')).toMatchObject([{ id: third?.id }]);
    expect(await list('?limit=2')).toHaveLength(2);

    abort.abort();
    await Promise.all(sent);
    await expect.poll(() => list()).toEqual([]);
  });
});
