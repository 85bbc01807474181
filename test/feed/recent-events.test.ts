import { setImmediate as nextTurn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import { createRecentEvents } from '../../src/feed/recent-events.ts';

const event = (id: number, body: string) => ({ id, type: 'capture.failed', host: null, batch: null, body });

it('lets go of events beyond its characters, however few they are', async () => {
  const recent = createRecentEvents(0, { events: 10_000, characters: 100_000 });
  const added = Array.from({ length: 500 }, (_, at) => {
    const large = event(at + 1, 'x'.repeat(10_000));
    recent.add([large]);
    return new WeakRef(large);
  });
  setFlagsFromString('--expose-gc');
  const gc: unknown = runInNewContext('gc');
  setFlagsFromString('--no-expose-gc');
  await nextTurn();
  if (typeof gc === 'function') gc();
  expect(added.filter((one) => one.deref() !== undefined).length).toBeLessThan(50);
  expect(recent.after(recent.floor, 1000)).toHaveLength(10);
});

it('returns the events that follow an id, also while old ones are removed', () => {
  const recent = createRecentEvents(0, { events: 10, characters: 1000 });
  for (let id = 1; id <= 100; id += 1) {
    recent.add([event(id, 'x'.repeat(id % 7 === 0 ? 200 : 10))]);
    const { floor, newest } = recent;
    expect(recent.after(floor, 1000).map((one) => one.id)).toEqual(
      Array.from({ length: newest - floor }, (_, at) => floor + 1 + at),
    );
  }
});
