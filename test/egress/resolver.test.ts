import { describe, expect, it } from 'vitest';
import { createResolver } from '../../src/egress/resolver.ts';

/** Returns a resolver whose lookups never end. `aborted` tells for each lookup whether it was aborted. */
function silentResolver(timeoutMs: number) {
  const lookups: AbortSignal[] = [];
  const resolver = createResolver({
    timeoutMs,
    lookup: (_name, signal) => {
      lookups.push(signal);
      return new Promise(() => {});
    },
  });
  return { resolver, aborted: () => lookups.map((signal) => signal.aborted) };
}

describe('createResolver', () => {
  it('aborts a lookup when the last of its waiters has left, not before', async () => {
    const { resolver, aborted } = silentResolver(60_000);
    const [one, other] = [new AbortController(), new AbortController()];
    const first = resolver.resolve('slow.test', one.signal);
    const second = resolver.resolve('slow.test', other.signal);

    one.abort();
    await expect(first).rejects.toBe(one.signal.reason);
    expect(aborted()).toEqual([false]);
    other.abort();
    await expect(second).rejects.toBe(other.signal.reason);
    expect(aborted()).toEqual([true]);

    const later = new AbortController();
    const third = resolver.resolve('slow.test', later.signal);
    expect(aborted()).toEqual([true, false]);
    later.abort();
    await expect(third).rejects.toBe(later.signal.reason);
  });

  it('aborts a lookup that takes longer than its time limit', async () => {
    const { resolver, aborted } = silentResolver(10);
    const failed = { code: 'target_unreachable', message: 'no address of slow.test was found within 0.01 s' };
    await expect(resolver.resolve('slow.test', new AbortController().signal)).rejects.toMatchObject(failed);
    expect(aborted()).toEqual([true]);
  });
});
