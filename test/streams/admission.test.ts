import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createAdmission } from '../../src/streams/admission.ts';
import type { Place, Reservation } from '../../src/streams/reservation.ts';

const standing = () => 0;

describe('admission', () => {
  it('admits as many captures as may run and wait, and not one more', () => {
    const admission = createAdmission({ maxConcurrent: 2, maxQueue: 3 }, standing);
    const places = Array.from({ length: 6 }, () => admission.admit());
    expect(places.map((place) => place !== undefined)).toEqual([true, true, true, true, true, false]);
    places[0]?.release();
    places[0]?.release();
    expect(admission.taken).toBe(4);
    expect(admission.admit()).toBeDefined();
    expect(admission.admit()).toBeUndefined();
  });

  it('gives a batch a reservation as wide as the free capacity, and at least 1', () => {
    const admission = createAdmission({ maxConcurrent: 2, maxQueue: 3 }, standing);
    expect(admission.admitBatch(4)?.width).toBe(4);
    expect(admission.admitBatch(4)?.width).toBe(1);
    expect(admission.admitBatch(1)).toBeUndefined();
  });

  it('tells a batch whether captures of other owners are admitted', () => {
    const admission = createAdmission({ maxConcurrent: 2, maxQueue: 30 }, standing);
    const batch = admission.admitBatch(2, undefined, 'lists');
    admission.admit('lists');
    expect(batch?.hasOthers()).toBe(false);
    const page = admission.admit('pages');
    expect(batch?.hasOthers()).toBe(true);
    page?.release();
    expect(batch?.hasOthers()).toBe(false);
    expect(admission.admitBatch(2)?.hasOthers()).toBe(false);
  });

  it('lends a batch its places without refusing, and counts them until the last is returned', () => {
    const admission = createAdmission({ maxConcurrent: 2, maxQueue: 0 }, standing);
    let returned = 0;
    const reservation = admission.admitBatch(2, () => returned++);
    const [one, two, three] = [placeIn(reservation), placeIn(reservation), placeIn(reservation)];
    expect(three).toBeUndefined();
    one?.release();
    expect(admission.taken).toBe(2);
    reservation?.release();
    expect([admission.taken, returned]).toEqual([1, 0]);
    expect(placeIn(reservation)).toBeUndefined();
    two?.release();
    reservation?.release();
    expect([admission.taken, returned]).toEqual([0, 1]);
  });

  it('frees the places that batches hold without using when their reservations are revoked', () => {
    const admission = createAdmission({ maxConcurrent: 4, maxQueue: 0 }, standing);
    const reservation = admission.admitBatch(3);
    const place = placeIn(reservation);
    admission.revokeBatches();
    expect([admission.taken, placeIn(reservation)]).toEqual([1, undefined]);
    place?.release();
    reservation?.release();
    expect(admission.taken).toBe(0);
  });

  it('refuses everything with shutting_down once it is closed', () => {
    const admission = createAdmission({ maxConcurrent: 2, maxQueue: 3 }, standing);
    expect(admission.refusal()).toBeUndefined();
    admission.close();
    expect([admission.admit(), admission.admitBatch(1)]).toEqual([undefined, undefined]);
    expect(admission.refusal()).toMatchObject({ code: 'shutting_down', status: 503 });
  });

  it('admits nothing new above lowered limits, and keeps the captures already admitted', () => {
    const admission = createAdmission({ maxConcurrent: 2, maxQueue: 2 }, standing);
    const places = [admission.admit(), admission.admit(), admission.admit()];
    admission.setLimits({ maxConcurrent: 1, maxQueue: 1 });
    expect([admission.taken, admission.capacity, admission.admit()]).toEqual([3, 2, undefined]);
    places[0]?.release();
    expect(admission.admit()).toBeUndefined();
    places[1]?.release();
    expect(admission.admit()).toBeDefined();
    expect(() => admission.setLimits({ maxConcurrent: 0, maxQueue: 1 })).toThrow('not 0');
    expect(() => admission.setLimits({ maxConcurrent: 1, maxQueue: -1 })).toThrow('not -1');
  });

  it('admits no more than an overload allows, and everything again when it is over', () => {
    const admission = createAdmission({ maxConcurrent: 2, maxQueue: 2 }, standing);
    const place = admission.admit();
    admission.setOverload({ reason: 'Too hot.', maxTaken: 0, minMs: 0 });
    expect([admission.admit(), admission.admitBatch(1)]).toEqual([undefined, undefined]);
    expect(admission.refusal()).toMatchObject({ code: 'queue_full', message: 'Too hot.' });
    admission.setOverload({ reason: 'Too hot.', maxTaken: 1, minMs: 0 });
    expect(admission.admit()).toBeUndefined();
    place?.release();
    expect(admission.admitBatch(4)?.width).toBe(1);
    expect(admission.refusal()).toMatchObject({ message: 'Too hot.' });
    admission.setOverload(null);
    expect(admission.refusal()).toBeUndefined();
  });

  describe('Retry-After', () => {
    it('returns a time no earlier than an overload can end', () => {
      let now = 0;
      const admission = createAdmission({ maxConcurrent: 2, maxQueue: 2 }, () => now);
      admission.setOverload({ reason: 'Too hot.', maxTaken: 0, minMs: 5000 });
      expect(admission.refusal()?.retryAfterSeconds).toBe(5);
      now = 3500;
      expect(admission.refusal()?.retryAfterSeconds).toBe(2);
      now = 60_000;
      expect(admission.refusal()?.retryAfterSeconds).toBe(1);
    });

    /** Starts full; every `everyMs` one capture ends and the next is admitted, for a minute. */
    function retryAfterAt(everyMs: number, capacity: number): number | undefined {
      let now = 0;
      const admission = createAdmission({ maxConcurrent: 2, maxQueue: capacity - 2 }, () => now);
      const held = Array.from({ length: capacity }, () => admission.admit());
      while (now < 60_000) {
        now += everyMs;
        held.shift()?.release();
        held.push(admission.admit());
      }
      return admission.refusal()?.retryAfterSeconds;
    }

    it('returns the time to finish the admitted captures at the measured rate', () => {
      expect(retryAfterAt(100, 100)).toBe(10);
      expect(retryAfterAt(1000, 20)).toBeGreaterThanOrEqual(20);
      expect(retryAfterAt(1000, 20)).toBeLessThanOrEqual(21);
    });

    it('returns at least 1 s and at most 60 s', () => {
      expect(retryAfterAt(1, 10)).toBe(1);
      expect(retryAfterAt(1000, 500)).toBe(60);
      const fresh = createAdmission({ maxConcurrent: 1, maxQueue: 0 }, standing);
      fresh.admit();
      expect(fresh.refusal()?.retryAfterSeconds).toBe(1);
    });

    it('does not mistake an idle hour for a slow service', () => {
      let now = 0;
      const admission = createAdmission({ maxConcurrent: 2, maxQueue: 8 }, () => now);
      const burst = () => {
        const places = Array.from({ length: 10 }, () => admission.admit());
        const seconds = admission.refusal()?.retryAfterSeconds;
        for (const place of places) {
          now += 500;
          place?.release();
        }
        return seconds;
      };
      burst();
      now += 3_600_000;
      expect(burst()).toBeLessThanOrEqual(6);
    });

    it.each(['single captures', 'captures of a batch'])('does not follow %s that end while slots are free', (kind) => {
      let now = 0;
      const admission = createAdmission({ maxConcurrent: 10, maxQueue: 90 }, () => now);
      const batch = kind === 'single captures' ? undefined : admission.admitBatch(1);
      for (let count = 0; count < 10_000; count += 1) {
        const place = batch === undefined ? admission.admit() : placeIn(batch);
        now += 10;
        place?.release();
      }
      while (admission.admit() !== undefined);
      now += 30_000;
      expect(admission.refusal()?.retryAfterSeconds).toBe(60);
    });

    it('follows captures of batches that end while all slots are busy', () => {
      let now = 0;
      const admission = createAdmission({ maxConcurrent: 1, maxQueue: 9 }, () => now);
      const batch = admission.admitBatch(1);
      while (admission.admit() !== undefined);
      for (let count = 0; count < 60; count += 1) {
        const place = placeIn(batch);
        now += 500;
        place?.release();
      }
      expect(admission.refusal()?.retryAfterSeconds).toBe(5);
    });
  });

  it('keeps exact counts for random sequences of operations', () => {
    const at = fc.nat({ max: 5 });
    const step = fc.oneof(
      fc.record({ do: fc.constant('admit' as const) }),
      fc.record({ do: fc.constant('admitBatch' as const), width: fc.integer({ min: 1, max: 6 }) }),
      fc.record({ do: fc.constant('lend' as const), at }),
      fc.record({ do: fc.constant('return' as const), at }),
      fc.record({ do: fc.constant('release' as const), at }),
      fc.record({ do: fc.constant('giveBack' as const), at }),
      fc.record({ do: fc.constant('limits' as const), maxQueue: fc.nat({ max: 8 }) }),
      fc.record({ do: fc.constant('revoke' as const) }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const admission = createAdmission({ maxConcurrent: 2, maxQueue: 6 }, standing);
        const places: Place[] = [];
        const lent = new Map<Place, Reservation>();
        const batches = new Map<Reservation, { out: number; held: number; holds: boolean }>();
        const reservations: Reservation[] = [];
        let singles = 0;
        const model = () => [...batches].reduce((sum, [, { out, held, holds }]) => sum + (holds ? held : out), singles);

        for (const one of steps) {
          const before = admission.taken;
          switch (one.do) {
            case 'admit': {
              const place = admission.admit();
              expect(place !== undefined).toBe(before < admission.capacity);
              if (place !== undefined) {
                places.push(place);
                singles += 1;
              }
              break;
            }
            case 'admitBatch': {
              const reservation = admission.admitBatch(one.width);
              expect(reservation?.width ?? 0).toBe(Math.max(0, Math.min(one.width, admission.capacity - before)));
              if (reservation !== undefined) {
                reservations.push(reservation);
                batches.set(reservation, { out: 0, held: reservation.width, holds: true });
              }
              break;
            }
            case 'lend': {
              const reservation = reservations[one.at];
              const state = reservation && batches.get(reservation);
              const place = placeIn(reservation);
              if (reservation !== undefined && state !== undefined) {
                // A batch that gave places back takes one again where there is room.
                const mayTake = state.holds && state.out === state.held && state.held < reservation.width;
                if (mayTake && before < admission.capacity) state.held += 1;
                expect(place !== undefined).toBe(state.holds && state.out < state.held);
              }
              if (place !== undefined && reservation !== undefined && state !== undefined) {
                places.push(place);
                lent.set(place, reservation);
                state.out += 1;
              }
              break;
            }
            case 'return': {
              const [place] = places.splice(one.at, 1);
              const reservation = place && lent.get(place);
              const state = reservation && batches.get(reservation);
              if (place !== undefined) {
                place.release();
                place.release();
                if (state === undefined) {
                  singles -= 1;
                } else {
                  state.out -= 1;
                }
              }
              break;
            }
            case 'release': {
              const reservation = reservations[one.at];
              const state = reservation && batches.get(reservation);
              reservation?.release();
              if (state !== undefined) {
                state.holds = false;
              }
              break;
            }
            case 'giveBack': {
              const reservation = reservations[one.at];
              const state = reservation && batches.get(reservation);
              reservation?.giveBack();
              if (state !== undefined) state.held = state.out;
              break;
            }
            case 'limits':
              admission.setLimits({ maxConcurrent: 2, maxQueue: one.maxQueue });
              break;
            case 'revoke':
              admission.revokeBatches();
              for (const state of batches.values()) {
                state.holds = false;
              }
              break;
          }
          expect(admission.taken).toBe(model());
        }
      }),
      { numRuns: 300 },
    );
  });
});

/** Returns a place that a capture of the reservation gets at once. */
function placeIn(reservation: Reservation | undefined): Place | undefined {
  let taken: Place | undefined;
  const leave = reservation?.enter(false, (place) => {
    taken = place;
  });
  leave?.();
  return taken;
}
