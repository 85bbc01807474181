import { createPool, type Pool } from 'generic-pool';
import { CapstanError } from '../capture/errors.ts';
import type { UpstreamProxy } from '../capture/options/proxy.ts';
import type { Egress, EgressProxy } from '../egress/egress.ts';

/** The slot of one capture. Each slot has its own egress proxy, so that traffic can be attributed to the capture. */
export class Slot {
  readonly #egress: Egress;
  #egressProxy: Promise<EgressProxy> | null = null;

  constructor(egress: Egress) {
    this.#egress = egress;
  }

  /**
   * Returns the slot's egress proxy, connected through `proxy` if given, without records or connections of the previous
   * capture.
   */
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

  /** Ends the network access of the capture: its egress proxy refuses connections until the next capture. */
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

/**
 * Time limit for a slot, in milliseconds. There are as many slots as admitted captures; the wait is for the cleanup of
 * the previous one.
 */
const ACQUIRE_TIMEOUT_MS = 30_000;
/** Time without a capture after which a slot closes its port, in milliseconds. */
const IDLE_MS = 60_000;

/** The slots, one for each concurrent capture. */
export class SlotPool {
  readonly #egress: Egress;
  /** Pools replaced by `resize`. Their captures keep their slots until they end. */
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

  /** Takes a slot, with the function that returns it. */
  async take(): Promise<{ readonly slot: Slot; readonly leave: () => void }> {
    const pool = this.#pool;
    const slot = await pool.acquire();
    const leave = () => {
      slot.endCapture();
      void pool.release(slot);
    };
    return { slot, leave };
  }

  /** Replaces the pool, because generic-pool's `max` cannot change; the old one ends with its last capture. */
  resize(slots: number): void {
    if (slots === this.#pool.max) return;
    const old = this.#pool;
    this.#pool = createSlotPool(this.#egress, slots);
    this.#leaving.add(old);
    void emptied(old).finally(() => this.#leaving.delete(old));
  }

  /** Resolves when every slot is free and every egress proxy is closed. */
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
 * `create` must not reject, because generic-pool would retry it at once, forever. Egress proxies are therefore opened
 * on first use.
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
