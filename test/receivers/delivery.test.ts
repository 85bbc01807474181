import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { STORED_LIMITS } from '../../src/capture/stored-limits.ts';
import { KEYS } from '../../src/receivers/receiver.ts';
import { readState } from '../../src/receivers/receiver-state.ts';
import { RETRY_TIMES } from '../../src/receivers/retry-times.ts';
import { deliveriesIn } from '../../src/storage/documents/deliveries.ts';
import type { Database } from '../../src/storage/ports/database.ts';
import { UNCONTESTED } from '../../src/storage/ports/lock.ts';
import { SqliteThread } from '../../src/storage/sqlite/thread.ts';
import { describeInEachDatabase } from '../storage/each-database.ts';
import { type Answer, type Receiver, startReceiver, statuses } from './receiver.ts';
import { QUICK, startRig } from './rig.ts';

const HOUR = 3_600_000;
/** The beginning of an hour. */
const START = 1_800_000_000_000 - (1_800_000_000_000 % HOUR);
const bodies = ({ received }: Receiver) => received.map(({ body }) => JSON.parse(body));
const batches = (receiver: Receiver) => bodies(receiver).map(({ batch }) => batch);
const polled = (value: () => unknown) => expect.poll(value, { interval: 5, timeout: 30_000 });

/** An option that fails while the service is broken. */
function failingIf(isBroken: boolean): boolean {
  if (isBroken) throw new Error('broken');
  return false;
}

/** A receiver that holds back its answers until the test releases them. */
async function startSlow() {
  const gate = Promise.withResolvers<void>();
  const receiver = await startReceiver(async (response) => {
    await gate.promise;
    response.writeHead(204).end();
  });
  return { receiver, open: gate.resolve };
}

describeInEachDatabase((open) => {
  let database: Database;

  beforeAll(async () => {
    database = await open();
  });
  afterAll(() => database?.close());

  it('sends every message to every receiver, and to a callback only the messages of its own request', async () => {
    await using first = await startReceiver();
    await using second = await startReceiver();
    await using callback = await startReceiver();
    const rig = await startRig(database, { webhooks: [first.url, second.url] });
    rig.batch('a');
    rig.batch('b', { callback: callback.url });
    await polled(rig.said).toHaveLength(5);
    expect([first, second, callback].map((one) => batches(one).toSorted())).toEqual([['a', 'b'], ['a', 'b'], ['b']]);
    expect(bodies(callback)).toEqual([expect.objectContaining({ v: 1, type: 'batch.completed', size: 1 })]);
    expect(new Set(rig.reported.map(({ message }) => message)).size).toBe(5);
    await rig.stop();
  });

  it('reports each message, without the parts of the URL that could be a secret', async () => {
    await using good = await startReceiver();
    await using bad = await startReceiver(statuses(410));
    const rig = await startRig(database);
    rig.batch('a', { callback: good.url });
    await polled(rig.said).toHaveLength(1);
    rig.batch('b', { callback: bad.url });
    await polled(rig.said).toHaveLength(2);
    const id = { message: expect.stringMatching(/^msg_/), at: expect.stringMatching(/^20.*Z$/) };
    const base = { ...id, name: 'callback', about: 'batch.completed', capture: null, watch: null, attempts: 1 };
    const refused = { cause: 'refused', reason: 'the receiver answered 410', status: 410 };
    expect(rig.reported).toEqual([
      {
        ...{ ...base, type: 'message.delivered', receiver: new URL(good.url).host, batch: 'a', status: 204 },
        duration_ms: expect.any(Number),
      },
      { ...base, type: 'message.failed', receiver: new URL(bad.url).host, batch: 'b', ...refused },
    ]);
    await rig.stop();
  });

  it('tells of the changes of one watch in order, and holds up no other watch', async () => {
    const failing: Answer = (response, n) => {
      const { watch } = JSON.parse(receiver.received[n]?.body ?? '{}');
      const failures = bodies(receiver).filter((body) => body.watch === 1).length;
      response.writeHead(watch === 1 && failures < 4 ? 500 : 204).end();
    };
    const receiver = await startReceiver(failing);
    const rig = await startRig(database, { times: { ...QUICK, firstMs: 20 } });
    for (const run of [1, 2, 3]) for (const watch of [1, 2]) rig.watch(watch, run, { callback: receiver.url });
    await polled(rig.said).toHaveLength(6);
    expect(rig.said().filter((text) => text.startsWith('2'))).toEqual(Array(3).fill('2 delivered'));
    const runsOf = (watch: number) =>
      bodies(receiver)
        .filter((body) => body.watch === watch)
        .map(({ run }) => run.capture);
    expect(runsOf(1)).toEqual([1, 1, 1, 1, 2, 3]);
    expect(runsOf(2)).toEqual([1, 2, 3]);
    const ids = receiver.received.map(({ headers }) => headers['webhook-id']);
    expect(new Set(ids).size).toBe(6);
    await rig.stop();
    await receiver[Symbol.asyncDispose]();
  });

  it('isolates receivers, limits what one is sent at once, and keys from each other', async () => {
    const { receiver: slow, open: release } = await startSlow();
    await using _slow = slow;
    await using quick = await startReceiver();
    const rig = await startRig(database, { atOnce: 2 });
    for (const batch of ['a', 'b', 'c']) rig.batch(batch, { callback: slow.url }, 'flood');
    rig.batch('d', { callback: slow.url }, 'shop');
    rig.batch('e', { callback: quick.url }, 'flood');
    await polled(rig.said).toEqual(['e delivered']);
    await polled(() => slow.received.length).toBe(3);
    expect(batches(slow).toSorted()).toEqual(['a', 'b', 'd']);
    expect(rig.dispatcher.pending).toBe(4);
    release();
    await polled(rig.said).toHaveLength(5);
    await rig.stop();
  });

  it('waits with all messages as long as a receiver asks', async () => {
    const times: number[] = [];
    await using receiver = await startReceiver((response, n) => {
      times.push(performance.now());
      if (n === 0) response.writeHead(429, { 'Retry-After': '1' }).end();
      else response.writeHead(204).end();
    });
    const rig = await startRig(database, { atOnce: 1 });
    for (const batch of ['a', 'b', 'c']) rig.batch(batch, { callback: receiver.url });
    await polled(rig.said).toHaveLength(3);
    expect((times[1] ?? 0) - (times[0] ?? 0)).toBeGreaterThan(990);
    expect(batches(receiver)[0]).toBe(batches(receiver)[1]);
    await rig.stop();
  });

  it('keeps what was given up as dead letters, and sends them again when asked', async () => {
    await using receiver = await startReceiver(statuses(410, 500, 500, 500, 204));
    const rig = await startRig(database, { times: { ...QUICK, giveUpAfterMs: -1 } });
    rig.batch('a', { callback: receiver.url }, 'shop');
    await polled(rig.said).toEqual(['a refused']);
    rig.batch('b', { callback: receiver.url }, 'shop');
    await polled(rig.said).toEqual(['a refused', 'b unreachable']);
    const wanted = { receiver: 'c.', isPrefix: true, ofKey: 'shop' };
    const dead = (await rig.store.dead(wanted, 100)).items.filter(({ url }) => url === receiver.url);
    expect(dead).toMatchObject([
      { attempts: 1, status: 410, reason: 'the receiver answered 410' },
      { attempts: 3, status: 500 },
    ]);
    const revive = async (id: string, ofKey: string) => rig.store.revive({ ...wanted, ofKey }, { limit: 1, id });
    for (const { id } of dead) {
      expect(await revive(id, 'other')).toEqual([]);
      rig.dispatcher.delivery?.send(await revive(id, 'shop'));
    }
    await polled(() => rig.said().toSorted()).toEqual(['a delivered', 'a refused', 'b delivered', 'b unreachable']);
    await rig.stop();
  });

  it('gives up messages for addresses that an earlier version accepted and this one cannot read, and still lists the receivers', async () => {
    const address = 'https://%c3:%bc@ntfy.example/topic';
    const old = { apiKeyName: 'shop', name: 'old', body: JSON.stringify({ name: 'old', kind: 'ntfy', address }) };
    await database.receivers.add(old, false);
    const rig = await startRig(database);
    rig.batch('a', { callback: 'https://a%zz@hooks.example/', notify: ['old'] }, 'shop');
    rig.batch('b', { notify: ['old'] }, 'shop');
    await polled(() => rig.said().toSorted()).toEqual(['a refused', 'a refused', 'b refused']);
    const reason = 'the address has a user or password that is not percent-encoded';
    for (const receiver of ['hooks.example', 'ntfy.example']) {
      expect(rig.reported).toContainEqual(expect.objectContaining({ receiver, reason, attempts: 1 }));
    }
    const dead = await rig.store.dead({ receiver: 'k.shop/old', isPrefix: false, ofKey: 'shop' }, 10);
    expect(dead.items).toMatchObject([{ attempts: 1, reason }, { reason }]);
    const [listed] = await database.receivers.list('shop');
    expect(listed && rig.registry.openGiven(listed)).toMatchObject({ name: 'old', host: 'ntfy.example' });
    await database.receivers.remove('shop', 'old');
    await rig.store.removeReceiver('k.shop/old');
    await rig.stop();
  });

  it('gives up messages for receivers that only a newer version can read, or whose record is damaged, and lists them', async () => {
    await using receiver = await startReceiver();
    const written = { kind: 'webhook', address: receiver.url };
    const bodies: Readonly<Record<string, string>> = {
      newer: JSON.stringify({ ...written, kind: 'matrix' }),
      proto: JSON.stringify({ ...written, kind: 'constructor' }),
      empty: '',
      partial: '{"kind":"webhook"}',
      pace: JSON.stringify({ ...written, every: 'daily' }),
      zone: JSON.stringify({ ...written, quiet: { from: 0, to: 60, timeZone: 'Mars/Base' } }),
      whole: JSON.stringify(written),
    };
    const names = Object.keys(bodies);
    for (const name of names)
      await database.receivers.add({ apiKeyName: 'shop', name, body: bodies[name] ?? '' }, false);
    const rig = await startRig(database);
    rig.batch('a', { notify: names.slice(0, 4) }, 'shop');
    rig.batch('b', { notify: names.slice(4) }, 'shop');
    await polled(() => rig.said().toSorted()).toEqual([
      ...['a refused', 'a refused', 'a refused', 'a refused'],
      ...['b delivered', 'b refused', 'b refused'],
    ]);
    const listed = await database.receivers.list('shop');
    const problems = listed.map((one) => [one.name, rig.registry.openGiven(one).problem]);
    const newer = 'its kind is unknown: a newer version of the service stored it';
    const damaged = 'its stored record is damaged';
    expect(Object.fromEntries(problems)).toEqual({
      ...{ newer, proto: newer, whole: null },
      ...{ empty: damaged, partial: damaged, pace: damaged, zone: damaged },
    });
    const dead = await rig.store.dead({ receiver: 'k.shop/newer', isPrefix: false, ofKey: 'shop' }, 10);
    expect(dead.items).toMatchObject([{ attempts: 1, reason: newer }]);
    for (const name of names) {
      await database.receivers.remove('shop', name);
      await rig.store.removeReceiver(`k.shop/${name}`);
    }
    await rig.stop();
  });

  it('sends again at the times for failed attempts, and then gives up, what the service itself fails to send', async () => {
    let isBroken = false;
    await using receiver = await startReceiver((response) => {
      isBroken = true;
      response.writeHead(503).end();
    });
    const times = { firstMs: 20, maxMs: 20, giveUpAfterMs: -1, minAttempts: 5 };
    const rig = await startRig(database, { times, keysShare: () => failingIf(isBroken) });
    rig.batch('a', { callback: receiver.url });
    await polled(rig.said).toEqual(['a unreachable']);
    expect(rig.reported).toMatchObject([{ attempts: 5, reason: 'the service failed: broken' }]);
    expect([rig.problems.length, receiver.received.length]).toEqual([4, 1]);
    rig.problems.length = 0;
    await rig.stop();
  });

  it('gives up the messages of a digest that the service itself fails to send', async () => {
    await using receiver = await startReceiver();
    let [isBroken, later] = [false, 0];
    const operator = [{ name: 'broken', kind: 'webhook', address: receiver.url, every: HOUR }] as const;
    const times = { firstMs: 20, maxMs: 20, giveUpAfterMs: -1, minAttempts: 3 };
    const rig = await startRig(database, {
      ...{ operator, times, clock: () => Date.now() + later, keysShare: () => failingIf(isBroken) },
    });
    for (const batch of ['a', 'b']) rig.batch(batch, { notify: ['broken'] });
    await polled(async () => (await rig.store.waiting()).get('o.broken')).toBe(2);
    isBroken = true;
    later = HOUR;
    rig.dispatcher.wake();
    await polled(rig.said).toEqual(['a unreachable', 'b unreachable']);
    expect(rig.reported[0]).toMatchObject({ reason: 'the service failed: broken' });
    expect([rig.problems.length, receiver.received]).toEqual([3, []]);
    rig.problems.length = 0;
    await rig.store.removeReceiver('o.broken');
    await rig.stop();
  });

  it('keeps how the last attempt ended, and counts what waits and what was given up by API key', async () => {
    await using receiver = await startReceiver(statuses(410, 204, 500));
    const operator = [{ name: 'team', kind: 'webhook', address: receiver.url }] as const;
    const rig = await startRig(database, { operator, times: { ...QUICK, firstMs: HOUR, maxMs: HOUR } });
    const last = async () => readState((await rig.store.states(['o.team'])).get('o.team')).last;
    const counts = async (ofKey?: string) =>
      [await rig.store.waiting(ofKey), await rig.store.buried(ofKey)].map((of) => of.get('o.team') ?? 0);
    rig.batch('a', { notify: ['team'] }, 'shop');
    await polled(rig.said).toEqual(['a refused']);
    expect(await last()).toMatchObject({ delivered: false, status: 410, reason: 'the receiver answered 410' });
    rig.batch('b', { notify: ['team'] }, 'shop');
    await polled(rig.said).toHaveLength(2);
    expect(await last()).toMatchObject({ delivered: true, status: 204, reason: null });
    rig.batch('c', { notify: ['team'] }, 'news');
    await polled(last).toMatchObject({ delivered: false, status: 500 });
    expect([await counts(), await counts('shop'), await counts('news')]).toEqual([
      [1, 1],
      [0, 1],
      [1, 0],
    ]);
    await rig.store.removeReceiver('o.team');
    await rig.stop();
  });

  it('delivers after a restart what a receiver that was away did not take', async () => {
    await using receiver = await startReceiver();
    const { port } = new URL(receiver.url);
    await receiver[Symbol.asyncDispose]();
    const before = await startRig(database, { webhooks: [receiver.url] });
    for (const batch of ['a', 'b']) before.batch(batch);
    await polled(async () => [...(await before.store.waiting()).values()]).toContain(2);
    await before.stop();
    await using back = await startReceiver(undefined, { port: Number(port) });
    const after = await startRig(database, { webhooks: [receiver.url], log: before.log });
    after.batch('c');
    await polled(after.said).toHaveLength(3);
    expect(batches(back).toSorted()).toEqual(['a', 'b', 'c']);
    await after.stop();
  });

  it('delivers in order what a receiver that was away for a day did not take', async () => {
    let isAway = true;
    await using receiver = await startReceiver((response) => response.writeHead(isAway ? 503 : 204).end());
    const start = Date.now();
    let now = start;
    const rig = await startRig(database, { webhooks: [receiver.url], clock: () => now, times: RETRY_TIMES });
    for (const run of [1, 2, 3]) rig.watch(7, run);
    const first = async () => {
      const [found] = await rig.store.next(KEYS.webhook(receiver.url), { exceptLanes: [], upTo: Infinity, limit: 1 });
      return found?.attempts;
    };
    const goOn = () => {
      // Longer than the longest pause.
      now += RETRY_TIMES.maxMs + 1;
      rig.dispatcher.wake();
    };
    for (let attempts = 1; now - start < 24 * HOUR; attempts += 1) {
      await polled(first).toBe(attempts);
      goOn();
    }
    isAway = false;
    const runs = () => receiver.received.slice(-3).map(({ body }) => JSON.parse(body).run.capture);
    goOn();
    await polled(rig.said).toEqual(['7 delivered', '7 delivered', '7 delivered']);
    expect(runs()).toEqual([1, 2, 3]);
    await rig.stop();
  });

  it('sends one message of many in each interval', async () => {
    await using receiver = await startReceiver();
    let now = START;
    const address = receiver.url;
    const operator = [{ name: 'digest', kind: 'webhook', address, every: HOUR }] as const;
    const rig = await startRig(database, { operator, clock: () => now });
    for (const batch of ['a', 'b']) rig.batch(batch, { notify: ['digest'] });
    await polled(async () => (await rig.store.waiting()).get('o.digest')).toBe(2);
    rig.dispatcher.wake();
    expect(receiver.received).toEqual([]);
    now += HOUR;
    rig.dispatcher.wake();
    await polled(rig.said).toEqual(['digest delivered']);
    const [digest] = bodies(receiver);
    expect(digest).toMatchObject({ v: 1, type: 'digest', more: 0, events: [{ batch: 'a' }, { batch: 'b' }] });
    await polled(async () => (await rig.store.waiting()).get('o.digest')).toBeUndefined();
    await rig.stop();
  });

  it('counts what waits without the messages of a digest that was sent', async () => {
    const { receiver: slow, open: release } = await startSlow();
    await using _slow = slow;
    await using receiver = await startReceiver();
    let now = START;
    const operator = [{ name: 'counted', kind: 'webhook', address: receiver.url, every: HOUR }] as const;
    const rig = await startRig(database, { operator, clock: () => now });
    for (const batch of ['a', 'b', 'c']) rig.batch(batch, { notify: ['counted'] });
    rig.batch('d', { callback: slow.url });
    await polled(() => rig.dispatcher.pending).toBe(4);
    now += HOUR;
    rig.dispatcher.wake();
    await polled(rig.said).toEqual(['digest delivered']);
    expect(rig.dispatcher.pending).toBe(1);
    release();
    await polled(rig.said).toHaveLength(2);
    await rig.stop();
  });

  it('says whether a digest was refused by its receiver, or its address is forbidden', async () => {
    await using gone = await startReceiver(statuses(410));
    let now = START;
    const to = (name: string, address: string) => ({ name, kind: 'webhook', address, every: HOUR }) as const;
    const operator = [to('gone', gone.url), to('inside', 'http://10.0.0.1/')];
    const rig = await startRig(database, { operator, clock: () => now });
    rig.batch('a', { notify: ['gone'] });
    rig.batch('b', { notify: ['inside'] });
    await polled(async () => (await rig.store.waiting()).get('o.inside')).toBe(1);
    now += HOUR;
    rig.dispatcher.wake();
    await polled(() => rig.said().toSorted()).toEqual(['a refused', 'b forbidden']);
    await rig.stop();
  });

  it('tells a dead letter that was revived while a digest was sent', async () => {
    const gate = Promise.withResolvers<void>();
    await using receiver = await startReceiver(async (response, n) => {
      if (n === 1) await gate.promise;
      response.writeHead(n === 0 ? 410 : 204).end();
    });
    let now = START;
    const operator = [{ name: 'revived', kind: 'webhook', address: receiver.url, every: HOUR }] as const;
    const rig = await startRig(database, { operator, clock: () => now });
    const wanted = { receiver: 'o.revived', isPrefix: false, ofKey: undefined };
    const tell = async (batch: string) => {
      rig.batch(batch, { notify: ['revived'] });
      await polled(async () => (await rig.store.waiting()).get('o.revived')).toBe(1);
    };
    const anHourLater = () => {
      now += HOUR;
      rig.dispatcher.wake();
    };
    await tell('dead');
    anHourLater();
    await polled(rig.said).toEqual(['dead refused']);
    await tell('a');
    anHourLater();
    await polled(() => receiver.received.length).toBe(2);
    await rig.store.revive(wanted, { limit: 10 });
    gate.resolve();
    // Its hour is over, so that it is sent at once.
    await polled(rig.said).toEqual(['dead refused', 'digest delivered', 'digest delivered']);
    const digests = bodies(receiver).map(({ events }) => events.map((one: { batch: string }) => one.batch));
    expect(digests).toEqual([['dead'], ['a'], ['dead']]);
    await rig.stop();
  });

  it('pages through dead letters of which several tell of one event', async () => {
    const store = database.openDeliveries();
    const about = { apiKeyName: null, lane: 's', createdAt: START, about: 'batch.completed', event: '{}' };
    const letters = [1, 2, 2, 2, 2, 3].map((position, at) => ({
      ...about,
      ...{ id: `msg_${(at * 7) % 5}${at}`, receiver: `c.paged${at}`, position },
    }));
    await store.add(letters, false);
    for (const letter of letters) {
      const failed = { attempts: 1, dueAt: 0, reason: '', status: 410 };
      await store.bury({ ...letter, ...failed }, failed);
    }
    const wanted = { receiver: 'c.paged', isPrefix: true, ofKey: undefined };
    const found: string[] = [];
    for (let page = await store.dead(wanted, 2); ; page = await store.dead(wanted, 2, page.items.at(-1))) {
      found.push(...page.items.map(({ id }) => id));
      if (!page.isCut) break;
    }
    expect(found).toHaveLength(letters.length);
    expect(new Set(found)).toEqual(new Set(letters.map(({ id }) => id)));
    for (const { receiver } of letters) await store.removeReceiver(receiver);
  });

  it('ends a page of dead letters with the one by which it is large, and sends them all again', async () => {
    const store = database.openDeliveries();
    const event = JSON.stringify({ text: 'x'.repeat(STORED_LIMITS.page.bytes / 3) });
    const about = { apiKeyName: 'shop', lane: 's', createdAt: START, about: 'watch.changed', event };
    const letters = Array.from({ length: 8 }, (_, at) => ({
      ...about,
      ...{ id: `msg_large${at}`, receiver: 'o.large', position: Math.ceil(at / 2) },
    }));
    await store.add(letters, false);
    const failed = { attempts: 1, dueAt: 0, reason: '', status: 410 };
    for (const letter of letters) await store.bury({ ...letter, ...failed }, failed);
    const wanted = { receiver: 'o.large', isPrefix: false, ofKey: 'shop' };
    const ids = async (page: ReturnType<typeof store.dead>) => (await page).items.map(({ id }) => id);
    const all = letters.map(({ id }) => id);
    expect((await store.dead(wanted, 1000)).isCut).toBe(true);
    expect(await ids(store.dead(wanted, 1000))).toEqual(all.slice(0, 3));
    expect(await ids(store.dead(wanted, 1000, letters[5]))).toEqual(all.slice(6));
    expect(await store.revive({ ...wanted, ofKey: 'other' }, { limit: 1000 })).toEqual([]);
    expect(await store.revive(wanted, { limit: 7 })).toHaveLength(7);
    expect(await ids(store.dead(wanted, 1000))).toEqual(all.slice(7));
    expect((await store.waiting('shop')).get('o.large')).toBe(7);
    await store.removeReceiver('o.large');
  });

  it('leaves places to the messages of other keys when the receivers of one are slow, and has the images of few in memory', async () => {
    const slow = await Promise.all(Array.from({ length: 10 }, startSlow));
    const chats = await Promise.all(Array.from({ length: 2 }, startSlow));
    await using quick = await startReceiver();
    const operator = chats.map(
      ({ receiver }, at) => ({ name: `chat${at}`, kind: 'ntfy', address: receiver.url }) as const,
    );
    const rig = await startRig(database, { operator, keysShare: () => true });
    const received = (all: typeof slow) => all.reduce((sum, { receiver }) => sum + receiver.received.length, 0);
    for (const { receiver } of slow) {
      for (const batch of ['a', 'b', 'c', 'd']) rig.batch(batch, { callback: receiver.url }, 'flood');
    }
    for (const { name } of operator)
      for (const batch of ['a', 'b', 'c', 'd']) rig.batch(batch, { notify: [name] }, 'flood');
    // Half of the 64 places, and of the 8 for messages with images.
    await polled(() => [received(slow), received(chats)]).toEqual([32, 4]);
    rig.batch('e', { callback: quick.url }, 'shop');
    await polled(rig.said).toEqual(['e delivered']);
    for (const { open: release } of [...slow, ...chats]) release();
    await polled(rig.said).toHaveLength(49);
    await rig.stop();
    for (const { receiver } of [...slow, ...chats]) await receiver[Symbol.asyncDispose]();
  });

  it('sends at most as many messages an hour as allowed, and the rest as one of the next hour', async () => {
    await using receiver = await startReceiver();
    let now = START;
    const operator = [{ name: 'few', kind: 'webhook', address: receiver.url, maxPerHour: 2 }] as const;
    const rig = await startRig(database, { operator, clock: () => now });
    for (const batch of ['a', 'b', 'c', 'd']) rig.batch(batch, { notify: ['few'] });
    await polled(rig.said).toEqual(['a delivered', 'b delivered']);
    await polled(async () => (await rig.store.waiting()).get('o.few')).toBe(2);
    now += HOUR;
    rig.dispatcher.wake();
    await polled(rig.said).toHaveLength(3);
    rig.batch('e', { notify: ['few'] });
    await polled(rig.said).toHaveLength(4);
    expect(
      bodies(receiver).map(({ batch, events }) => batch ?? events.map((one: { batch: string }) => one.batch)),
    ).toEqual(['a', 'b', ['c', 'd'], 'e']);
    await rig.stop();
  });

  it('sends nothing in quiet hours, and what waits after them', async () => {
    await using receiver = await startReceiver();
    let now = Date.UTC(2027, 0, 1, 22, 30);
    const quiet = { from: 23 * 60, to: 7 * 60, timeZone: 'Europe/Berlin' };
    const operator = [{ name: 'calm', kind: 'webhook', address: receiver.url, quiet }] as const;
    const rig = await startRig(database, { operator, clock: () => now });
    rig.batch('a', { notify: ['calm'] });
    await polled(async () => (await rig.store.waiting()).get('o.calm')).toBe(1);
    now = Date.UTC(2027, 0, 2, 5, 59);
    rig.dispatcher.wake();
    expect(rig.said()).toEqual([]);
    now = Date.UTC(2027, 0, 2, 6, 0);
    rig.dispatcher.wake();
    await polled(rig.said).toEqual(['a delivered']);
    await rig.stop();
  });
});

describe('the room for messages', () => {
  const few = { count: 3, bytes: 1_000_000 };
  const many = { count: 100, bytes: 1_000_000 };
  const limited = (limits: Partial<Parameters<typeof deliveriesIn>[2] & object>['limits']) => {
    const thread = new SqliteThread({ path: ':memory:', keptEvents: 0 }, () => {});
    const lock = async () => UNCONTESTED;
    return { thread, store: deliveriesIn(thread.table('documents'), lock, limits && { limits }) };
  };
  const none = { add: async () => false, get: async () => undefined, list: async () => [], remove: async () => false };

  it('goes on after dead letters that are removed while a page of them is read', async () => {
    const { thread, store } = limited({ all: many, ofReceiver: many, dead: many });
    const failed = { attempts: 1, dueAt: 0, reason: '', status: 410 };
    const about = { apiKeyName: null, lane: 's', createdAt: START, about: 'batch.completed', event: '{}' };
    for (const position of [1, 2, 3]) {
      const letter = { ...about, id: `msg_${position}`, receiver: 'c.read', position };
      await store.add([letter], false);
      await store.bury({ ...letter, ...failed }, failed);
    }
    const wanted = { receiver: 'c.read', isPrefix: false, ofKey: undefined };
    const documents = thread.table('documents');
    const list = async (...asked: Parameters<typeof documents.list>) => {
      if (asked[2]?.isBrief !== true) await store.remove(['msg_1', 'msg_2']);
      return documents.list(...asked);
    };
    const reading = new Proxy(documents, { get: (all, name) => (name === 'list' ? list : Reflect.get(all, name)) });
    const { items, isCut } = await deliveriesIn(reading, async () => UNCONTESTED).dead(wanted, 2);
    expect([items.map(({ id }) => id), isCut]).toEqual([['msg_3'], false]);
    await thread.close();
  });

  it('drops what exceeds that of a receiver, and tells the receiver how much when it takes messages again', async () => {
    const { receiver, open } = await startSlow();
    await using _receiver = receiver;
    const { thread, store } = limited({ all: many, ofReceiver: few, dead: few });
    const rig = await startRig({ receivers: none, openDeliveries: () => store }, { atOnce: 1 });
    for (const batch of ['a', 'b', 'c', 'd', 'e']) rig.batch(batch, { callback: receiver.url });
    await polled(rig.said).toEqual(['d dropped', 'e dropped']);
    open();
    await polled(() => receiver.received.length).toBe(4);
    expect(bodies(receiver).find(({ type }) => type === 'dropped')).toMatchObject({ dropped: 2 });
    await polled(rig.said).toHaveLength(5);
    await rig.stop();
    await thread.close();
  });

  it('tells a receiver of dropped messages once when several of its messages end at once', async () => {
    const { receiver, open } = await startSlow();
    await using _receiver = receiver;
    const { thread, store } = limited({ all: many, ofReceiver: { count: 4, bytes: 1_000_000 }, dead: few });
    const rig = await startRig({ receivers: none, openDeliveries: () => store }, { atOnce: 4 });
    for (const batch of ['a', 'b', 'c', 'd', 'e', 'f']) rig.batch(batch, { callback: receiver.url });
    await polled(rig.said).toEqual(['e dropped', 'f dropped']);
    open();
    await polled(rig.said).toHaveLength(6);
    await rig.stop();
    expect(bodies(receiver).filter(({ type }) => type === 'dropped')).toMatchObject([{ dropped: 2 }]);
    await thread.close();
  });

  it('keeps places for the messages of other keys when one key has very many', async () => {
    const { receiver, open } = await startSlow();
    await using _receiver = receiver;
    await using quick = await startReceiver();
    const { thread, store } = limited({ all: { count: 8, bytes: 1_000_000 }, ofReceiver: many, dead: few });
    const rig = await startRig({ receivers: none, openDeliveries: () => store }, { keysShare: () => true });
    for (const batch of ['a', 'b', 'c', 'd', 'e']) rig.batch(batch, { callback: receiver.url }, 'flood');
    await polled(rig.said).toEqual(['e dropped']);
    rig.batch('f', { callback: quick.url }, 'shop');
    await polled(rig.said).toEqual(['e dropped', 'f delivered']);
    open();
    await polled(rig.said).toHaveLength(6);
    await rig.stop();
    await thread.close();
  });

  it('keeps places of a receiver for the messages of other keys when one key has very many', async () => {
    const { receiver, open } = await startSlow();
    await using _receiver = receiver;
    const operator = [{ name: 'team', kind: 'webhook', address: receiver.url }] as const;
    const { thread, store } = limited({ all: many, ofReceiver: { count: 8, bytes: 1_000_000 }, dead: few });
    const rig = await startRig({ receivers: none, openDeliveries: () => store }, { operator, keysShare: () => true });
    for (const batch of ['a', 'b', 'c', 'd', 'e']) rig.batch(batch, { notify: ['team'] }, 'flood');
    await polled(rig.said).toEqual(['e dropped']);
    rig.batch('f', { notify: ['team'] }, 'shop');
    await polled(async () => (await store.waiting('shop')).get('o.team')).toBe(1);
    open();
    await polled(rig.said).toHaveLength(6);
    await rig.stop();
    await thread.close();
  });
});
