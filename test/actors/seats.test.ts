import { describe, expect, it } from 'vitest';
import { captureRequest } from '../support/actor.ts';
import { actorPerTest } from '../support/actor-per-test.ts';
import { siteForSuite } from '../support/for-suite.ts';

const SOON = { timeout: 15_000 };

describe('the seats', () => {
  const site = siteForSuite();
  const start = actorPerTest();

  it('grow and shrink while captures are under way, and the browsers with them', async () => {
    const { actor, events } = await start({ seats: 1 });
    const leaving = new AbortController();
    const hang = () => actor.capture(captureRequest(site.url('/hang')), leaving.signal).catch((error) => error.code);
    const captures = [hang()];
    await expect.poll(() => site.hits('/hang'), SOON).toBe(1);

    actor.setSeats(16);
    captures.push(hang(), hang());
    await expect.poll(() => site.hits('/hang'), SOON).toBe(3);
    await expect.poll(() => actor.stats().browsers.length, SOON).toBe(2);
    expect(actor.stats().busy).toBe(3);
    captures.push(hang());
    await expect.poll(() => site.hits('/hang'), SOON).toBe(4);

    actor.setSeats(1);
    expect(actor.stats()).toMatchObject({ busy: 4 });
    expect(events.filter(({ type }) => type === 'browser.crashed')).toEqual([]);

    leaving.abort();
    expect(await Promise.all(captures)).toEqual(['cancelled', 'cancelled', 'cancelled', 'cancelled']);
    await expect.poll(() => actor.stats(), SOON).toMatchObject({ busy: 0, idle: 0 });
    await expect.poll(() => actor.stats().browsers.length, SOON).toBe(1);
    expect(events.at(-1)).toMatchObject({ type: 'browser.retired', reason: 'fewer browsers are wanted' });

    actor.setSeats(16);
    const again = new AbortController();
    const pair = [1, 2].map(() => actor.capture(captureRequest(site.url('/hang')), again.signal).catch(() => null));
    await expect.poll(() => actor.stats().browsers.length, SOON).toBe(2);
    again.abort();
    await Promise.all(pair);
    await expect.poll(() => actor.stats().busy, SOON).toBe(0);
    actor.setSeats(1);
    expect(actor.stats().browsers.length).toBe(1);
    const snapshot = await actor.capture(captureRequest(site.url('/short')), new AbortController().signal);
    expect(snapshot.responseCode).toBe(200);
  });
});
