import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { ReceiverSchema } from '../../src/capture/work/receiver.ts';
import { NO_BROWSER, type Served } from '../commands/capstan-process.ts';
import { post } from '../faults/client.ts';
import { SECRET, startReceiver } from '../receivers/receiver.ts';
import { clusterOf, clusterStats, serversForSuite, whyNoCluster } from './cluster-of-processes.ts';

const whyNot = await whyNoCluster();
const reason = whyNot === undefined ? '' : ` (skipped: ${whyNot})`;

const FLAGS = ['--webhook-secret', SECRET, '--allow-webhooks', '127.0.0.1', ...NO_BROWSER];
const Listed = z.object({ data: z.array(ReceiverSchema) });
/** The other node goes on when the lease of 15 s has ended. */
const DEADLINE = { timeout: 60_000 };

describe.skipIf(whyNot !== undefined)(`a receiver of a cluster${reason}`, () => {
  const servers = serversForSuite();

  it('is told of the events of every node, by whichever node lives', async () => {
    await using receiver = await startReceiver();
    await using cluster = await clusterOf(servers, 'receivers');
    let [first, second] = [await cluster.start('api', ...FLAGS), await cluster.start('api', ...FLAGS)];
    const told: string[] = [];
    /** Each refused capture is an event. */
    const happen = async (node: Served, page: string) => {
      // A node that has just started answers before it has reached the others.
      await expect.poll(() => clusterStats(node), DEADLINE).toMatchObject({ connected: true });
      told.push(`/${page}`);
      expect((await post(`${node.url}/screenshot`, { url: `http://10.0.0.1/${page}` })).status).toBe(403);
    };
    const untilTold = () =>
      expect
        .poll(() => receiver.received.map(({ body }) => new URL(JSON.parse(body).url).pathname), DEADLINE)
        .toEqual(told);

    const added = await post(`${first.url}/receivers`, { name: 'mine', kind: 'webhook', address: receiver.url });
    expect(added.status).toBe(201);
    const query = { filter: { type: ['capture.rejected'] }, notify: ['mine'] };
    expect((await post(`${second.url}/queries`, query)).status).toBe(201);
    await happen(first, 'first');
    await untilTold();
    await happen(second, 'second');
    await untilTold();
    // Whichever of them delivered, the other one does after its end.
    first.child.kill('SIGKILL');
    await first.ended;
    await happen(second, 'while-first-is-away');
    await untilTold();
    first = await cluster.again(first);
    second.child.kill('SIGKILL');
    await second.ended;
    await happen(first, 'while-second-is-away');
    await untilTold();
    second = await cluster.again(second);
    await happen(second, 'last');
    await untilTold();
    const listed = Listed.parse(await (await fetch(`${second.url}/receivers`)).json()).data;
    expect(listed).toMatchObject([{ name: 'mine', waiting: 0, dead: 0, last: { delivered: true } }]);
  });
});
