import { describe, expect, it } from 'vitest';
import { createAdmission } from '../../src/streams/admission.ts';
import type { Reservation } from '../../src/streams/reservation.ts';

function reservationOf(width: number, maxConcurrent = width, maxQueue = 0) {
  const admission = createAdmission({ maxConcurrent, maxQueue }, () => 0);
  const reservation = admission.admitBatch(width);
  if (reservation === undefined) throw new Error('the batch was not admitted');
  return { admission, reservation };
}

/** An item that enters, and the place that it gets. */
function using(reservation: Reservation, isAhead = false) {
  const state = { hasBegun: false, hasPlace: false };
  let release = (): void => {};
  const item = reservation.item({ dialled: () => {}, reached: () => {}, ended: () => {} });
  item.enter(isAhead, (place) => {
    state.hasBegun = true;
    state.hasPlace = place !== undefined;
    release = () => place?.release();
  });
  return {
    state,
    item,
    release: () => release(),
    end: () => {
      release();
      item.leave();
    },
  };
}

describe('createReservation', () => {
  it('begins no more items at once than its width after it was revoked', () => {
    const { admission, reservation } = reservationOf(2);
    const items = Array.from({ length: 5 }, () => using(reservation));
    admission.revokeBatches();
    expect(items.map(({ state }) => state.hasBegun)).toEqual([true, true, false, false, false]);
    items[0]?.end();
    expect(items.map(({ state }) => state.hasPlace)).toEqual([true, true, false, false, false]);
    expect(items[2]?.state.hasBegun).toBe(true);
    expect(using(reservation).state.hasBegun).toBe(false);
  });

  it('begins items at once while it holds a place for each, then one for each that ends', () => {
    const { reservation } = reservationOf(2, 3);
    const [one, two, three] = [using(reservation), using(reservation), using(reservation)];
    expect([one.state.hasPlace, two.state.hasPlace, three.state.hasBegun]).toEqual([true, true, false]);
    two.end();
    two.end();
    expect(three.state.hasPlace).toBe(true);
  });

  it('gives places back only while none is used, and takes them again', () => {
    const { admission, reservation } = reservationOf(2);
    const one = using(reservation);
    reservation.giveBack();
    expect(admission.taken).toBe(2);
    one.end();
    reservation.giveBack();
    expect(admission.taken).toBe(0);
    const [again, another] = [using(reservation), using(reservation)];
    expect([again.state.hasPlace, another.state.hasPlace, admission.taken]).toEqual([true, true, 2]);
  });

  it('waits for a place when others have taken what it gave back, ahead of new captures', () => {
    const { admission, reservation } = reservationOf(2);
    reservation.giveBack();
    const others = [admission.admit(), admission.admit()];
    const [one, two] = [using(reservation), using(reservation)];
    expect([one.state.hasBegun, two.state.hasBegun]).toEqual([false, false]);
    others[0]?.release();
    expect([one.state.hasPlace, two.state.hasBegun, admission.admit()]).toEqual([true, false, undefined]);
    one.end();
    expect([two.state.hasPlace, admission.taken]).toEqual([true, 2]);
    two.end();
    reservation.release();
    expect(admission.taken).toBe(1);
  });

  it('stops waiting when its use ends', () => {
    const { admission, reservation } = reservationOf(1);
    reservation.giveBack();
    const other = admission.admit();
    const waiting = using(reservation);
    waiting.end();
    other?.release();
    expect([waiting.state.hasBegun, admission.taken]).toEqual([false, 0]);
  });

  it('gives a place ahead of the batch back once when its item takes a place of the batch with it', () => {
    const { admission, reservation } = reservationOf(1, 1, 2);
    reservation.giveBack();
    const first = using(reservation, true);
    const others = [admission.admit(), admission.admit()];
    first.item.moveIn(() => {});
    expect([first.item.isIn, admission.taken]).toEqual([false, 3]);
    first.release();
    expect([first.item.isIn, admission.taken]).toEqual([true, 3]);
    first.item.leave();
    for (const other of others) other?.release();
    // One place of the batch, and one ahead of it: half of the queue.
    const more = [false, true, true].map((isAhead) => using(reservation, isAhead));
    expect(more.map(({ state }) => state.hasPlace)).toEqual([true, true, false]);
  });

  it('takes a place when a limit is raised', () => {
    const { admission, reservation } = reservationOf(1);
    reservation.giveBack();
    admission.admit();
    const waiting = using(reservation);
    admission.setLimits({ maxConcurrent: 2, maxQueue: 0 });
    expect([waiting.state.hasPlace, admission.taken]).toEqual([true, 2]);
  });

  it.each(['close', 'revokeBatches'] as const)('begins waiting items without a place after %s', (end) => {
    const { admission, reservation } = reservationOf(1);
    reservation.giveBack();
    admission.admit();
    const waiting = using(reservation);
    admission[end]();
    expect(waiting.state).toEqual({ hasBegun: true, hasPlace: false });
    waiting.end();
    expect(using(reservation).state).toEqual({ hasBegun: true, hasPlace: false });
  });

  it('lends no place after it gave its places back to a closed admission', () => {
    const { admission, reservation } = reservationOf(1);
    admission.close();
    reservation.giveBack();
    expect([using(reservation).state, admission.taken]).toEqual([{ hasBegun: true, hasPlace: false }, 0]);
  });
});
