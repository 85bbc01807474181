import { createPool, type Pool } from 'generic-pool';
import { CapstanError } from '../capture/errors.ts';
import type { UpstreamProxy } from '../capture/options/proxy.ts';
import type { Egress, EgressProxy } from '../egress/egress.ts';

/** The place of one capture: its way to the network is its own, so that what went through it can be told apart. */
export class Slot {
  readonly #egress: Egress;
  #egressProxy: Promise<EgressProxy> | null = null;

  constructor(egress: Egress) {
    this.#egress = egress;
  }

  /** The slot's way out, through `proxy` if there is one, with nothing noted and nothing open from the capture before. */
  async resetProxy(proxy?: UpstreamProxy): Promise<EgressProxy> {
    this.#egressProxy ??= this.#egress.openEgressProxy();
    try {
      const egressProxy = await this.#egressProxy;
      egressProxy.reset(proxy);
      return egressProxy;
    } catch (error) {
      this.#egressProxy = null;
      throw new CapstanError('internal', undefined, { cause: error });
    }
  }

  /** Ends the capture on the network: nobody may use its egress proxy, nor its caller's proxy, until the next one. */
  endCapture(): void {
    this.#egressProxy?.then(
      (egressProxy) => egressProxy.end(),
      () => {},
    );
  }

  async close(): Promise<void> {
    const egressProxy = await this.#egressProxy?.catch(() => null);
    await egressProxy?.close();
  }
}

/** Longest wait for a slot. The limiter lets no more captures in than there are slots; what is waited for is tidying. */
const ACQUIRE_TIMEOUT_MS = 30_000;
/** A slot that nobody sat on for so long gives its port back. */
const IDLE_MS = 60_000;

/** The slots for captures: as many as may be under way at once. */
export class SlotPool {
  readonly #egress: Egress;
  /** Those that go first: their captures end on the slots that they have. */
  readonly #leaving = new Set<Pool<Slot>>();
  #pool: Pool<Slot>;

  constructor(egress: Egress, slots: number) {
    this.#egress = egress;
    this.#pool = createSlotPool(egress, slots);
  }

  get busy(): number {
    return this.#pools().reduce((sum, pool) => sum + pool.borrowed, 0);
  }

  get idle(): number {
    return this.#pools().reduce((sum, pool) => sum + pool.available, 0);
  }

  /** A slot, and the way to give it back. */
  async take(): Promise<{ readonly slot: Slot; readonly leave: () => void }> {
    const pool = this.#pool;
    const slot = await pool.acquire();
    const leave = () => {
      slot.endCapture();
      void pool.release(slot);
    };
    return { slot, leave };
  }

  /** generic-pool's `max` cannot change: another pool takes over, and this one goes when its last slot is free. */
  resize(slots: number): void {
    if (slots === this.#pool.max) return;
    const old = this.#pool;
    this.#pool = createSlotPool(this.#egress, slots);
    this.#leaving.add(old);
    void emptied(old).finally(() => this.#leaving.delete(old));
  }

  /** Resolves when nobody sits any more, and every way out is closed. */
  async close(): Promise<void> {
    await Promise.all(this.#pools().map(emptied));
  }

  #pools(): readonly Pool<Slot>[] {
    return [this.#pool, ...this.#leaving];
  }
}

async function emptied(pool: Pool<Slot>): Promise<void> {
  await pool.drain();
  await pool.clear();
}

/**
 * `create` cannot fail (an egress proxy is opened when the slot is first used): generic-pool calls a `create` that rejects again
 * at once, for ever.
 */
function createSlotPool(egress: Egress, slots: number): Pool<Slot> {
  return createPool<Slot>(
    {
      create: async () => new Slot(egress),
      destroy: (slot) => slot.close(),
    },
    {
      min: 0,
      max: slots,
      acquireTimeoutMillis: ACQUIRE_TIMEOUT_MS,
      idleTimeoutMillis: IDLE_MS,
      evictionRunIntervalMillis: IDLE_MS,
    },
  );
}
