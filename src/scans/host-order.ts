/** Something that is done at a host. */
interface AtHost {
  readonly host: string;
}

interface Host<T> {
  readonly waiting: T[];
  running: number;
  /** Number of timers before whose last one it must not be visited. */
  holds: number;
}

export interface HostOrderOptions {
  /** Maximum number of elements of one host at a time. */
  readonly perHost: number;
  /** Time between the end of an element and the start of the next one of its host, in milliseconds. */
  readonly delayMs: number;
}

/** Number of elements that are read ahead, so that hosts can take turns. */
const WINDOW = 4_096;

/**
 * Hands out the elements of a source so that hosts take turns, each with at most `perHost` elements at a time. Reads
 * ahead as far as its window; the rest stays in the source.
 */
export class HostOrder<T extends AtHost> {
  readonly #source: AsyncIterator<T>;
  readonly #perHost: number;
  readonly #delayMs: number;
  readonly #hosts = new Map<string, Host<T>>();
  /** Hosts that have something to do and may be visited; the one that waits longest is first. */
  readonly #ready = new Set<Host<T>>();
  readonly #timers = new Set<NodeJS.Timeout>();
  #waiting = 0;
  #running = 0;
  #hasEnded = false;
  #isClosed = false;
  #wake: () => void = () => {};

  constructor(source: AsyncIterator<T>, { perHost, delayMs }: HostOrderOptions) {
    this.#source = source;
    // A pause between two visits leaves no room for a second one beside them.
    this.#perHost = delayMs > 0 ? 1 : perHost;
    this.#delayMs = delayMs;
  }

  /** Returns the next element as soon as its host may be visited; undefined when all have been released. */
  async next(): Promise<T | undefined> {
    while (!this.#isClosed) {
      await this.#fill();
      const [host] = this.#ready;
      const element = host?.waiting.shift();
      if (host !== undefined && element !== undefined) {
        host.running += 1;
        this.#running += 1;
        this.#waiting -= 1;
        this.#ready.delete(host);
        this.#update(host);
        return element;
      }
      // An element that is running may be put back.
      if (this.#isClosed || this.#waiting + this.#running === 0) return undefined;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    return undefined;
  }

  /** Ends an element. `holdMs`: time for which its host is not visited, if it is longer than the usual pause. */
  release(element: T, holdMs = 0): void {
    const host = this.#hosts.get(element.host);
    if (host === undefined) return;
    host.running -= 1;
    this.#running -= 1;
    const pauseMs = Math.max(holdMs, this.#delayMs);
    if (pauseMs > 0 && !this.#isClosed) this.#hold(element.host, host, pauseMs);
    this.#update(host);
    this.#forget(element.host, host);
    this.#wake();
  }

  /** Ends an element, and hands it out again after `holdMs`. */
  again(element: T, holdMs: number): void {
    this.#hosts.get(element.host)?.waiting.unshift(element);
    this.#waiting += 1;
    this.release(element, holdMs);
  }

  /** Stops all waiting. */
  close(): void {
    this.#isClosed = true;
    for (const timer of this.#timers) clearTimeout(timer);
    this.#wake();
  }

  async #fill(): Promise<void> {
    while (!this.#hasEnded && this.#waiting < WINDOW && !this.#isClosed) {
      const step = await this.#source.next();
      if (step.done === true) {
        this.#hasEnded = true;
        return;
      }
      const { host: name } = step.value;
      const host = this.#hosts.get(name) ?? { waiting: [], running: 0, holds: 0 };
      this.#hosts.set(name, host);
      host.waiting.push(step.value);
      this.#waiting += 1;
      this.#update(host);
    }
  }

  #hold(name: string, host: Host<T>, ms: number): void {
    host.holds += 1;
    this.#ready.delete(host);
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      host.holds -= 1;
      this.#update(host);
      this.#forget(name, host);
      this.#wake();
    }, ms);
    this.#timers.add(timer);
  }

  #update(host: Host<T>): void {
    if (host.holds === 0 && host.waiting.length > 0 && host.running < this.#perHost) this.#ready.add(host);
  }

  /** A host that is held is kept, so that what comes later waits as well. */
  #forget(name: string, host: Host<T>): void {
    if (host.waiting.length === 0 && host.running === 0 && host.holds === 0) this.#hosts.delete(name);
  }
}
