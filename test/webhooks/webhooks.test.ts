import { Subject } from 'rxjs';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { BatchEvent, Conclusion, WebhookEvent } from '../../src/capture/events.ts';
import type { Egress } from '../../src/egress/egress.ts';
import { createWebhooks, type Webhooks, type WebhooksOptions } from '../../src/webhooks/webhooks.ts';
import { receiverEgress, SECRET, startReceiver, statuses } from './receiver.ts';

let egress: Egress;
let conclusions$: Subject<Conclusion>;
let reported: WebhookEvent[];
let webhooks: Webhooks | undefined;

beforeAll(() => {
  egress = receiverEgress();
});
afterAll(() => egress.close());
beforeEach(() => {
  conclusions$ = new Subject();
  reported = [];
});
afterEach(async () => {
  await webhooks?.drain(0);
  webhooks?.stop();
});

function start(options: Partial<WebhooksOptions> = {}): Webhooks {
  let id = 0;
  webhooks = createWebhooks({
    ...{ receivers: [], secrets: [SECRET], egress, conclusions$, clock: Date.now },
    emit: (event) => void reported.push(event),
    bodyOf: (event) => JSON.stringify({ v: 1, ...event }),
    ids: () => {
      id += 1;
      return `msg_${id}`;
    },
    ...{ retries: 1, retryDelayMs: 2 },
    ...options,
  });
  return webhooks;
}

function tell(batch: string, callback?: string, key?: string): void {
  const at = '2027-01-01T00:00:00.000Z';
  const named = key === undefined ? {} : { api_key_name: key };
  const event: BatchEvent = { type: 'batch.completed', at, batch, size: 1, done: 1, failed: 0, ...named };
  conclusions$.next({ event, callback });
}

const reports = () => expect.poll(() => reported, { interval: 5 });
/** `batch` and the result of its delivery, in the order of the reports. */
const said = () => reported.map((event) => `${event.batch} ${'cause' in event ? event.cause : 'delivered'}`);

/** A receiver that holds back its answers until the test releases them. */
async function startSlow() {
  const gate = Promise.withResolvers<void>();
  const receiver = await startReceiver(async (response) => {
    await gate.promise;
    response.writeHead(204).end();
  });
  return { receiver, open: gate.resolve };
}

describe('webhooks', () => {
  it('sends every message to every receiver, and to a callback only the messages of its own request', async () => {
    await using first = await startReceiver();
    await using second = await startReceiver();
    await using callback = await startReceiver();
    start({ receivers: [first.url, second.url] });
    tell('a');
    tell('b', callback.url);
    await reports().toHaveLength(5);
    const batches = [first, second, callback].map(({ received }) =>
      received.map(({ body }) => JSON.parse(body).batch).toSorted(),
    );
    expect(batches).toEqual([['a', 'b'], ['a', 'b'], ['b']]);
    expect(JSON.parse(callback.received[0]?.body ?? '')).toMatchObject({ v: 1, type: 'batch.completed', size: 1 });
    expect(new Set(reported.map(({ webhook }) => webhook)).size).toBe(5);
  });

  it('reports each delivery, without the parts of the URL that could be a secret', async () => {
    await using good = await startReceiver();
    await using bad = await startReceiver(statuses(410));
    start();
    tell('a', good.url);
    await reports().toHaveLength(1);
    tell('b', bad.url);
    await reports().toHaveLength(2);
    const base = {
      about: 'batch.completed',
      capture: null,
      watch: null,
      attempts: 1,
      at: expect.stringMatching(/^20.*Z$/),
    };
    expect(reported).toEqual([
      {
        ...base,
        ...{ type: 'webhook.delivered', webhook: 'msg_1', receiver: new URL(good.url).host, batch: 'a' },
        ...{ status: 204, duration_ms: expect.any(Number) },
      },
      {
        ...base,
        ...{ type: 'webhook.failed', webhook: 'msg_2', receiver: new URL(bad.url).host, batch: 'b' },
        ...{ cause: 'refused', reason: 'the receiver answered 410', status: 410 },
      },
    ]);
  });

  it('isolates receivers: a slow one delays only its own messages', async () => {
    const { receiver: slow, open } = await startSlow();
    await using _slow = slow;
    await using quick = await startReceiver();
    const { pending } = start({ bounds: { concurrency: 1 } });
    expect(pending).toBe(0);
    for (const batch of ['s1', 's2', 's3']) tell(batch, slow.url);
    for (const batch of ['q1', 'q2', 'q3']) tell(batch, quick.url);
    await reports().toHaveLength(3);
    expect(said()).toEqual(['q1 delivered', 'q2 delivered', 'q3 delivered']);
    expect(webhooks?.pending).toBe(3);
    open();
    await reports().toHaveLength(6);
    expect(webhooks?.pending).toBe(0);
  });

  it('limits the concurrent deliveries per receiver', async () => {
    const { receiver: slow, open } = await startSlow();
    await using _slow = slow;
    start({ bounds: { concurrency: 2 } });
    for (const batch of ['a', 'b', 'c']) tell(batch, slow.url);
    await expect.poll(() => slow.received.length, { interval: 5 }).toBe(2);
    expect(slow.received).toHaveLength(2);
    open();
    await reports().toHaveLength(3);
    expect(slow.received).toHaveLength(3);
  });

  it("drops messages when a receiver's queue is full, and reports it", async () => {
    const { receiver: slow, open } = await startSlow();
    await using _slow = slow;
    await using quick = await startReceiver();
    start({ bounds: { concurrency: 1, maxOfOne: 2 } });
    for (const batch of ['a', 'b', 'c', 'd']) tell(batch, slow.url);
    expect(said()).toEqual(['c dropped', 'd dropped']);
    tell('e', quick.url);
    open();
    await reports().toHaveLength(5);
    expect(said().slice(2).toSorted()).toEqual(['a delivered', 'b delivered', 'e delivered']);
  });

  it("drops callbacks before messages to the operator's receivers", async () => {
    const { receiver: slow, open } = await startSlow();
    await using _slow = slow;
    await using own = await startReceiver();
    start({ receivers: [own.url], bounds: { maxPending: 1 } });
    for (const batch of ['a', 'b', 'c']) tell(batch, slow.url);
    await reports().toHaveLength(5);
    expect(said().toSorted()).toEqual(['a delivered', 'b delivered', 'b dropped', 'c delivered', 'c dropped']);
    open();
    await reports().toHaveLength(6);
  });

  it('keeps places for the callbacks of other keys when one key has very many', async () => {
    const { receiver: slow, open } = await startSlow();
    await using _slow = slow;
    await using quick = await startReceiver();
    start({ bounds: { maxPending: 8 } });
    for (const batch of ['a', 'b', 'c', 'd', 'e']) tell(batch, slow.url, 'flood');
    expect(said()).toEqual(['e dropped']);
    tell('f', quick.url, 'shop');
    await reports().toHaveLength(2);
    expect(said()).toEqual(['e dropped', 'f delivered']);
    open();
    await reports().toHaveLength(6);
  });

  it('does not let the callbacks of one key delay those of another to the same receiver', async () => {
    const { receiver, open } = await startSlow();
    await using _receiver = receiver;
    start({ bounds: { concurrency: 1 } });
    for (const batch of ['a', 'b', 'c']) tell(batch, receiver.url, 'flood');
    tell('d', receiver.url, 'shop');
    const arrived = () => receiver.received.map(({ body }) => JSON.parse(body).batch).toSorted();
    await expect.poll(arrived, { interval: 5 }).toEqual(['a', 'd']);
    open();
    await reports().toHaveLength(4);
  });

  it('delivers waiting messages during the grace period when the service stops', async () => {
    const { receiver: slow, open } = await startSlow();
    await using _slow = slow;
    const drained = start({ bounds: { concurrency: 1 } });
    tell('a', slow.url);
    tell('b', slow.url);
    const over = drained.drain(60_000);
    open();
    await over;
    expect(said()).toEqual(['a delivered', 'b delivered']);
  });

  it('drops waiting and running deliveries when the grace period is over', async () => {
    const { receiver: slow } = await startSlow();
    await using _slow = slow;
    const drained = start({ bounds: { concurrency: 1 } });
    tell('a', slow.url);
    tell('b', slow.url);
    await expect.poll(() => slow.received.length, { interval: 5 }).toBe(1);
    const patient = drained.drain(3_600_000);
    await drained.drain(0);
    await patient;
    expect(said().toSorted()).toEqual(['a shutting_down', 'b shutting_down']);
    tell('c', slow.url);
    expect(said().at(-1)).toBe('c shutting_down');
  });

  it('refuses a callback without a secret, and one whose address must not be dialled', async () => {
    const { signal } = new AbortController();
    const unsigned = start({ secrets: [] });
    await expect(unsigned.admit('https://example.com/', signal)).rejects.toMatchObject({
      code: 'invalid_request',
      problems: [{ path: 'callback', message: expect.stringContaining('--webhook-secret') }],
    });
    tell('a', 'http://127.0.0.1:9/');
    expect(unsigned.pending).toBe(0);
    const signed = start();
    await expect(signed.admit('http://10.0.0.1/', signal)).rejects.toMatchObject({ code: 'target_forbidden' });
    await expect(signed.admit('http://127.0.0.1:8000/', signal)).resolves.toBeUndefined();
  });
});
