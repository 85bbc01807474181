import { createPool, type Pool } from 'generic-pool';
import type { UpstreamProxy } from '../capture/request.ts';
import type { Egress, EgressLane } from '../egress/egress.ts';
import { CapstanError } from '../capture/errors.ts';

/** The place of one capture: its way to the network is its own, so that what went through it can be told apart. */
export class Seat {
  readonly #egress: Egress;
  #lane: Promise<EgressLane> | null = null;

  constructor(egress: Egress) {
    this.#egress = egress;
  }

  /** The seat's way out, through `proxy` if there is one, with nothing noted and nothing open from the capture before. */
  async cleanLane(proxy?: UpstreamProxy): Promise<EgressLane> {
    this.#lane ??= this.#egress.openLane();
    try {
      const lane = await this.#lane;
      lane.reset(proxy);
      return lane;
    } catch (error) {
      this.#lane = null;
      throw new CapstanError('internal', undefined, { cause: error });
    }
  }

  async close(): Promise<void> {
    const lane = await this.#lane?.catch(() => null);
    await lane?.close();
  }
}

/** Longest wait for a seat. The limiter lets no more captures in than there are seats; what is waited for is tidying. */
const ACQUIRE_TIMEOUT_MS = 30_000;
/** A seat that nobody sat on for so long gives its port back. */
const IDLE_MS = 60_000;

/** The seats for captures: as many as may be under way at once. */
export class Seats {
  readonly #egress: Egress;
  /** Those that go first: their captures end on the seats that they have. */
  readonly #leaving = new Set<Pool<Seat>>();
  #pool: Pool<Seat>;

  constructor(egress: Egress, seats: number) {
    this.#egress = egress;
    this.#pool = createSeatPool(egress, seats);
  }

  get busy(): number {
    return this.#pools().reduce((sum, pool) => sum + pool.borrowed, 0);
  }

  get idle(): number {
    return this.#pools().reduce((sum, pool) => sum + pool.available, 0);
  }

  /** A seat, and the way to give it back. */
  async take(): Promise<{ readonly seat: Seat; readonly leave: () => void }> {
    const pool = this.#pool;
    const seat = await pool.acquire();
    return { seat, leave: () => void pool.release(seat) };
  }

  /** generic-pool's `max` cannot change: another pool takes over, and this one goes when its last seat is free. */
  resize(seats: number): void {
    if (seats === this.#pool.max) return;
    const old = this.#pool;
    this.#pool = createSeatPool(this.#egress, seats);
    this.#leaving.add(old);
    void emptied(old).finally(() => this.#leaving.delete(old));
  }

  /** Resolves when nobody sits any more, and every way out is closed. */
  async close(): Promise<void> {
    await Promise.all(this.#pools().map(emptied));
  }

  #pools(): readonly Pool<Seat>[] {
    return [this.#pool, ...this.#leaving];
  }
}

async function emptied(pool: Pool<Seat>): Promise<void> {
  await pool.drain();
  await pool.clear();
}

/**
 * `create` cannot fail (a lane is opened when the seat is first used): generic-pool calls a `create` that rejects again
 * at once, for ever.
 */
function createSeatPool(egress: Egress, seats: number): Pool<Seat> {
  return createPool<Seat>(
    {
      create: async () => new Seat(egress),
      destroy: (seat) => seat.close(),
    },
    {
      min: 0,
      max: seats,
      acquireTimeoutMillis: ACQUIRE_TIMEOUT_MS,
      idleTimeoutMillis: IDLE_MS,
      evictionRunIntervalMillis: IDLE_MS,
    },
  );
}
