import { describe, expect, it } from 'vitest';
import { InvalidArgumentError, TokenBucket } from '../../src/ipinfo/mod.ts';
import { failureOf } from './upstream.ts';

describe('TokenBucket', () => {
  /** Requests `count` tokens at once. Returns the time until each was granted, in milliseconds. */
  const arrivals = async (bucket: TokenBucket, count: number): Promise<number[]> => {
    const started = performance.now();
    return Promise.all(Array.from({ length: count }, () => bucket.take().then(() => performance.now() - started)));
  };

  it('grants the first token at once and spaces the others', async () => {
    const times = await arrivals(new TokenBucket({ ratePerSecond: 50 }), 4);
    for (const [index, time] of times.entries()) expect(time).toBeGreaterThan(index * 20 - 2);
  });

  it('grants a burst at once, but no more tokens than that', async () => {
    const bucket = new TokenBucket({ ratePerSecond: 20, burst: 3 });
    const times = await arrivals(bucket, 4);
    expect(times[3]).toBeGreaterThan(48);
  });

  it('accumulates no more tokens than the burst', async () => {
    let now = 0;
    const bucket = new TokenBucket({ ratePerSecond: 1, burst: 2, now: () => now });
    await bucket.take();
    await bucket.take();
    now = 1_000_000;
    await bucket.take();
    await bucket.take();
    const controller = new AbortController();
    const third = failureOf(bucket.take(controller.signal));
    controller.abort('empty');
    expect(await third).toBe('empty');
  });

  it('serves callers in the order in which they asked', async () => {
    const bucket = new TokenBucket({ ratePerSecond: 500 });
    const order: number[] = [];
    await Promise.all([0, 1, 2, 3, 4].map((index) => bucket.take().then(() => order.push(index))));
    expect(order).toEqual([0, 1, 2, 3, 4]);
  });

  it('spends no token on a caller that has stopped waiting', async () => {
    let now = 0;
    const bucket = new TokenBucket({ ratePerSecond: 1, now: () => now });
    await bucket.take();
    const controller = new AbortController();
    const left = failureOf(bucket.take(controller.signal));
    controller.abort('left');
    expect(await left).toBe('left');
    now = 1000;
    await bucket.take();
  });

  it('rejects at once with the reason when the signal is already aborted', async () => {
    const bucket = new TokenBucket({ ratePerSecond: 1 });
    expect(await failureOf(bucket.take(AbortSignal.abort('no')))).toBe('no');
    await bucket.take();
  });

  it.each([
    { ratePerSecond: 0 },
    { ratePerSecond: -1 },
    { ratePerSecond: Number.NaN },
    { ratePerSecond: Number.POSITIVE_INFINITY },
    { ratePerSecond: 1, burst: 0 },
    { ratePerSecond: 1, burst: Number.NaN },
  ])('refuses %o', (options) => {
    expect(() => new TokenBucket(options)).toThrow(InvalidArgumentError);
  });
});
