import type { HostVisits } from './host-visits.ts';

/** Something that is done at a host. */
interface AtHost {
  readonly host: string;
}

interface HostOrderOptions {
  /** Maximum number of items of one host at a time, also of other orders. */
  readonly perHost: number;
  /** Time between the end of an item and the start of the next one of its host, in milliseconds. */
  readonly delayMs: number;
  readonly visits: HostVisits;
}

/** Number of items that are read ahead, so that hosts can take turns. */
export const WINDOW = 4_096;

/**
 * Hands out the items of a source so that hosts take turns, each with at most `perHost` items at a time. Reads
 * ahead as far as its window; the rest stays in the source.
 */
export class HostOrder<T extends AtHost> {
  readonly #source: AsyncIterator<T>;
  readonly #perHost: number;
  readonly #delayMs: number;
  readonly #visits: HostVisits;
  readonly #unobserve: () => void;
  /** Items that wait, by host. */
  readonly #hosts = new Map<string, T[]>();
  /** Hosts that may be visited, as far as is known; the one that waits longest is first. */
  readonly #ready = new Set<string>();
  /** Hosts of items that were handed out. */
  readonly #running = new Map<T['host'], number>();
  #waiting = 0;
  #out = 0;
  #hasEnded = false;
  #isClosed = false;
  #wake: () => void = () => {};

  constructor(source: AsyncIterator<T>, { perHost, delayMs, visits }: HostOrderOptions) {
    this.#source = source;
    // A pause between two visits leaves no room for a second one beside them.
    this.#perHost = delayMs > 0 ? 1 : perHost;
    this.#delayMs = delayMs;
    this.#visits = visits;
    this.#unobserve = visits.observe((host) => {
      this.#update(host);
      this.#wake();
    });
  }

  /** Returns the next item as soon as its host may be visited; undefined when all have been released. */
  async next(): Promise<T | undefined> {
    while (!this.#isClosed) {
      await this.#fill();
      const item = this.#isClosed ? undefined : this.#shift();
      if (item !== undefined) return item;
      // An item that is running may be put back.
      if (this.#isClosed || this.#waiting + this.#out === 0) return undefined;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    return undefined;
  }

  /** Ends an item. `holdMs`: time for which its host is not visited, if it is longer than the usual pause. */
  release({ host }: T, holdMs = 0): void {
    const running = this.#running.get(host);
    // Closing has released it.
    if (running === undefined) return;
    if (running === 1) this.#running.delete(host);
    else this.#running.set(host, running - 1);
    this.#out -= 1;
    this.#visits.leave(host, Math.max(holdMs, this.#delayMs));
    this.#wake();
  }

  /** Ends an item, and hands it out again after `holdMs`. */
  again(item: T, holdMs: number): void {
    if (this.#isClosed) return;
    this.#hosts.set(item.host, [item, ...(this.#hosts.get(item.host) ?? [])]);
    this.#waiting += 1;
    this.release(item, holdMs);
  }

  /** Stops all waiting, and releases what is running. */
  close(): void {
    this.#isClosed = true;
    this.#unobserve();
    for (const [host, running] of this.#running) {
      for (let n = 0; n < running; n += 1) this.#visits.leave(host, this.#delayMs);
    }
    this.#running.clear();
    this.#wake();
  }

  /** Takes an item of the host that waits longest. */
  #shift(): T | undefined {
    for (const host of this.#ready) {
      this.#ready.delete(host);
      const waiting = this.#hosts.get(host) ?? [];
      const [item] = waiting;
      if (item === undefined || !this.#visits.isFree(host, this.#perHost)) continue;
      waiting.shift();
      if (waiting.length === 0) this.#hosts.delete(host);
      this.#waiting -= 1;
      this.#out += 1;
      this.#running.set(host, (this.#running.get(host) ?? 0) + 1);
      this.#visits.enter(host);
      this.#update(host);
      return item;
    }
    return undefined;
  }

  async #fill(): Promise<void> {
    while (!this.#hasEnded && this.#waiting < WINDOW && !this.#isClosed) {
      const step = await this.#source.next();
      if (step.done === true) {
        this.#hasEnded = true;
        return;
      }
      const { host } = step.value;
      const waiting = this.#hosts.get(host);
      if (waiting === undefined) this.#hosts.set(host, [step.value]);
      else waiting.push(step.value);
      this.#waiting += 1;
      this.#update(host);
    }
  }

  #update(host: string): void {
    if (this.#hosts.has(host) && this.#visits.isFree(host, this.#perHost)) this.#ready.add(host);
  }
}
