import { once } from 'node:events';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { DeliverySchema, QuerySchema } from '../../src/http/answer/query-schemas.ts';
import { ground, serve } from '../commands/capstan-process.ts';
import { post } from './client.ts';

const Query = z.object({ data: QuerySchema });
const Delivered = z.object({ data: DeliverySchema });

it('delivers events of a standing query again when the service was killed before they were acknowledged', async () => {
  const place = await ground();
  const start = () => serve(['--db-path', 'results.db', '--browser-path', '/nonexistent/chromium'], place.options);
  const nextOf = async (url: string, id: string) =>
    Delivered.parse(await (await fetch(`${url}/queries/${id}/next?wait=60`)).json()).data;

  let { child, url } = await start();
  const created = await post(`${url}/queries`, { filter: { type: ['capture.rejected'] } });
  const { id } = Query.parse(await created.json()).data;
  for (let round = 0; round < 3; round += 1) {
    expect((await post(`${url}/screenshot`, { url: `http://10.0.0.1/${round}` })).status).toBe(403);
    // Killed at once: the event is younger than the log takes to gather events.
    const delivered = await nextOf(url, id);
    child.kill('SIGKILL');
    await once(child, 'close');

    ({ child, url } = await start());
    const again = await nextOf(url, id);
    expect(again.events.slice(0, delivered.events.length)).toEqual(delivered.events);
    expect(again.events.map(({ event }) => event)).toContainEqual(
      expect.objectContaining({ type: 'capture.rejected', url: `http://10.0.0.1/${round}` }),
    );
    // Of a lost answer to an acknowledgement, the consumer learns nothing: it acknowledges again.
    for (const _ of [1, 2]) {
      const acknowledged = await post(`${url}/queries/${id}/ack`, { position: again.position });
      expect(acknowledged.status).toBe(200);
    }
  }
  child.kill();
  await once(child, 'close');
});
