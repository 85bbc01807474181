import { expect, it } from 'vitest';
import { HostOrder } from '../../src/scans/host-order.ts';
import { HostVisits } from '../../src/scans/host-visits.ts';

interface Visit {
  readonly host: string;
  readonly n: number;
}

interface Options {
  readonly perHost: number;
  readonly delayMs?: number;
  readonly visits?: HostVisits;
}

function orderOf(hosts: readonly string[], options: Options) {
  async function* visits(): AsyncGenerator<Visit, void, undefined> {
    yield* hosts.map((host, n) => ({ host, n }));
  }
  return new HostOrder(visits(), { delayMs: 0, visits: new HostVisits(), ...options });
}

/** Takes `count` items; fails when one is not handed out. */
async function take(order: HostOrder<Visit>, count: number): Promise<readonly Visit[]> {
  const taken: Visit[] = [];
  while (taken.length < count) {
    const next = await order.next();
    if (next === undefined) throw new Error('the order has ended');
    taken.push(next);
  }
  return taken;
}

const names = (visits: readonly Visit[]) => visits.map(({ host, n }) => `${host}${n}`);

it('lets hosts take turns', async () => {
  const order = orderOf(['a', 'a', 'a', 'b', 'b', 'c'], { perHost: 9 });
  expect(names(await take(order, 6))).toEqual(['a0', 'b3', 'c5', 'a1', 'b4', 'a2']);
});

it('hands out at most so many items of a host at a time, and ends when all are released', async () => {
  const order = orderOf(['a', 'a', 'a'], { perHost: 2 });
  const [first, second] = await take(order, 2);
  let isThere = false;
  const third = order.next().finally(() => {
    isThere = true;
  });
  await new Promise(setImmediate);
  expect(isThere).toBe(false);
  if (first) order.release(first);
  expect(await third).toEqual({ host: 'a', n: 2 });
  const end = order.next();
  if (second) order.release(second);
  order.release({ host: 'a', n: 2 });
  expect(await end).toBeUndefined();
});

it('hands out again what is put back, after the time, and other hosts meanwhile', async () => {
  const order = orderOf(['a', 'a', 'b'], { perHost: 1 });
  const [first] = await take(order, 1);
  if (first) order.again(first, 50);
  const rest: Visit[] = [];
  for (let next = await order.next(); next !== undefined; next = await order.next()) {
    rest.push(next);
    order.release(next);
  }
  expect(names(rest)).toEqual(['b2', 'a0', 'a1']);
});

it('pauses between two items of a host', async () => {
  const order = orderOf(['a', 'a'], { perHost: 9, delayMs: 60 });
  const [first] = await take(order, 1);
  const releasedAt = performance.now();
  if (first) order.release(first);
  await take(order, 1);
  // Timers may fire a little early.
  expect(performance.now() - releasedAt).toBeGreaterThan(55);
});

it('stops waiting when it is closed', async () => {
  const order = orderOf(['a', 'a'], { perHost: 1 });
  await take(order, 1);
  const next = order.next();
  order.close();
  expect(await next).toBeUndefined();
});

it('counts the items of other orders at its hosts, and is not held by one that was closed', async () => {
  const visits = new HostVisits();
  const [one, other] = [orderOf(['a', 'a', 'b'], { perHost: 2, visits }), orderOf(['a', 'b'], { perHost: 2, visits })];
  const [first] = await take(one, 3);
  expect(names(await take(other, 1))).toEqual(['b1']);
  const next = other.next();
  if (first) one.release(first);
  expect(await next).toEqual({ host: 'a', n: 0 });
  other.close();
  const third = orderOf(['a'], { perHost: 1, visits });
  const last = third.next();
  one.close();
  expect(await last).toEqual({ host: 'a', n: 0 });
});

it('leaves a host alone for as long as another order must', async () => {
  const visits = new HostVisits();
  const [one, other] = [orderOf(['a'], { perHost: 2, visits }), orderOf(['a'], { perHost: 2, visits })];
  const [first] = await take(one, 1);
  const releasedAt = performance.now();
  if (first) one.release(first, 60);
  await take(other, 1);
  // Timers may fire a little early.
  expect(performance.now() - releasedAt).toBeGreaterThan(55);
});
