import { describe, expect, it } from 'vitest';
import { createAdmission } from '../../src/streams/admission.ts';
import type { Place, Reservation } from '../../src/streams/reservation.ts';

function reservationOf(width: number, maxConcurrent = width, maxQueue = 0) {
  const admission = createAdmission({ maxConcurrent, maxQueue }, () => 0);
  const reservation = admission.admitBatch(width);
  if (reservation === undefined) throw new Error('the batch was not admitted');
  return { admission, reservation };
}

/** A capture that enters, and the place that it gets. */
function using(reservation: Reservation, isToDial = false) {
  const state = { hasBegun: false, hasPlace: false, hasJoined: false };
  let place: Place | undefined;
  const leave = reservation.enter(isToDial, (given) => {
    state.hasBegun = true;
    state.hasPlace = given !== undefined;
    place = given;
  });
  return {
    state,
    join: () =>
      place?.join(() => {
        state.hasJoined = true;
      }),
    end: () => {
      place?.release();
      leave();
    },
  };
}

describe('createReservation', () => {
  it('begins waiting captures without a place once it was revoked', () => {
    const { admission, reservation } = reservationOf(2);
    const captures = Array.from({ length: 3 }, () => using(reservation));
    admission.revokeBatches();
    expect(captures.map(({ state }) => state.hasBegun)).toEqual([true, true, true]);
    expect(captures.map(({ state }) => state.hasPlace)).toEqual([true, true, false]);
    expect([using(reservation).state.hasPlace, admission.taken]).toEqual([false, 2]);
  });

  it('begins captures at once while it holds a place for each, then one for each that ends', () => {
    const { reservation } = reservationOf(2, 3);
    const [one, two, three] = [using(reservation), using(reservation), using(reservation)];
    expect([one.state.hasPlace, two.state.hasPlace, three.state.hasBegun]).toEqual([true, true, false]);
    two.end();
    two.end();
    expect(three.state.hasPlace).toBe(true);
  });

  it('lets as many captures as it is wide wait for a slot or run, whatever the number of dialled ones', () => {
    const { admission, reservation } = reservationOf(1, 1, 4);
    const captures = Array.from({ length: 4 }, () => using(reservation, true));
    // One place of the batch, and two ahead of it: half of the queue.
    expect(captures.map(({ state }) => state.hasPlace)).toEqual([true, true, true, false]);
    expect([admission.taken, reservation.ahead]).toEqual([3, 2]);
    for (const { join } of captures) join();
    expect(captures.map(({ state }) => state.hasJoined)).toEqual([true, false, false, false]);
    captures[1]?.end();
    captures[0]?.end();
    expect(captures.map(({ state }) => state.hasJoined)).toEqual([true, false, true, false]);
    expect([admission.taken, reservation.ahead]).toEqual([1, 0]);
  });

  it('lets captures that stay after it was released go on, and none that leaves with it', async () => {
    const { reservation } = reservationOf(1, 1, 4);
    const [one, two, three] = [using(reservation, true), using(reservation, true), using(reservation, true)];
    for (const { join } of [one, two, three]) join();
    reservation.release();
    for (const { end } of [one, two]) end();
    await Promise.resolve();
    expect([two.state.hasJoined, three.state.hasJoined]).toEqual([false, true]);
  });

  it('gives the places back that are not used, and takes them again', () => {
    const { admission, reservation } = reservationOf(2);
    const one = using(reservation);
    reservation.giveBack();
    expect(admission.taken).toBe(1);
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
    expect(waiting.state).toMatchObject({ hasBegun: true, hasPlace: false });
    waiting.end();
    expect(using(reservation).state).toMatchObject({ hasBegun: true, hasPlace: false });
  });

  it('lends no place after it gave its places back to a closed admission', () => {
    const { admission, reservation } = reservationOf(1);
    admission.close();
    reservation.giveBack();
    expect([using(reservation).state, admission.taken]).toMatchObject([{ hasBegun: true, hasPlace: false }, 0]);
  });
});
