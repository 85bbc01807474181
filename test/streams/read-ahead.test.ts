import { TestScheduler } from 'rxjs/testing';
import { describe, expect, it } from 'vitest';
import { createReadAhead } from '../../src/streams/read-ahead.ts';

/** Reads as many items as there is room for now, and begins their dials. */
function readAll(ahead: ReturnType<typeof createReadAhead>, isDialled = true) {
  const read = [];
  for (let hasRoom = true; hasRoom; ) {
    hasRoom = false;
    ahead.room$
      .subscribe(() => {
        hasRoom = true;
      })
      .unsubscribe();
    if (!hasRoom) continue;
    const item = ahead.read();
    item.toDial();
    if (isDialled) item.dialling();
    read.push(item);
  }
  return read;
}

describe('the items that a batch reads ahead', () => {
  it('are none while all targets are reached', () => {
    const ahead = createReadAhead(
      () => 4,
      () => 256,
      new TestScheduler(() => true),
    );
    const first = readAll(ahead);
    expect(first.length).toBe(4);
    for (const item of first) item.reached();
    expect(readAll(ahead).length).toBe(0);
    first[0]?.ended();
    expect(readAll(ahead).length).toBe(1);
  });

  it('are more, the more targets are dead', () => {
    const ahead = createReadAhead(
      () => 4,
      () => 256,
      new TestScheduler(() => true),
    );
    for (let round = 0; round < 20; round += 1) for (const item of readAll(ahead)) item.ended();
    expect(readAll(ahead).length).toBeGreaterThan(64);
  });

  it('are further ones for targets that have not answered for half a second, up to the maximum', () => {
    const time = new TestScheduler(() => true);
    time.maxFrames = Number.POSITIVE_INFINITY;
    const ahead = createReadAhead(
      () => 4,
      () => 30,
      time,
    );
    expect(readAll(ahead).length).toBe(4);
    const readAt: number[] = [];
    const readOn = () =>
      ahead.room$.subscribe(() => {
        for (const _ of readAll(ahead)) readAt.push(time.now());
        if (readAt.length < 30) readOn();
      });
    readOn();
    time.flush();
    expect(readAt).toEqual([...Array(12).fill(500), ...Array(18).fill(1000)]);
  });

  it('are no more for targets that wait for their host and were not dialled than for those that answer', () => {
    const time = new TestScheduler(() => true);
    time.maxFrames = Number.POSITIVE_INFINITY;
    const ahead = createReadAhead(
      () => 4,
      () => 256,
      time,
    );
    const waiting = readAll(ahead, false);
    let further = readAll(ahead, false);
    ahead.room$.subscribe(() => {
      further = readAll(ahead, false);
    });
    time.flush();
    // After half a second, others are read beside those that wait.
    expect(further.length).toBe(4);
    for (const item of [...waiting, ...further]) {
      item.dialling();
      item.reached();
    }
    for (const item of waiting) item.ended();
    expect(readAll(ahead).length).toBe(0);
  });

  it('are none without dialling, whatever the items wait for', () => {
    const ahead = createReadAhead(
      () => 4,
      () => 0,
      new TestScheduler(() => true),
    );
    expect(readAll(ahead).length).toBe(4);
    expect(readAll(ahead).length).toBe(0);
  });
});
