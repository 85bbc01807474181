interface Host {
  running: number;
  /** Number of timers that run. The host must not be visited before the last one has ended. */
  holds: number;
}

/** Visits of each host by all scans of this process, whose limits per host hold for all of them together. */
export class HostVisits {
  readonly #hosts = new Map<string, Host>();
  readonly #observers = new Set<(host: string) => void>();

  /** Calls `observer` with each host that may have become free. Returns a function that ends this. */
  observe(observer: (host: string) => void): () => void {
    this.#observers.add(observer);
    return () => void this.#observers.delete(observer);
  }

  /** Whether a host is not held, and has fewer than `most` visits. */
  isFree(name: string, max: number): boolean {
    const host = this.#hosts.get(name);
    return host === undefined || (host.holds === 0 && host.running < max);
  }

  enter(name: string): void {
    const host = this.#hosts.get(name) ?? { running: 0, holds: 0 };
    this.#hosts.set(name, host);
    host.running += 1;
  }

  /** Ends a visit. The host is not visited for `holdMs`, and longer if it is held for longer already. */
  leave(name: string, holdMs: number): void {
    const host = this.#hosts.get(name);
    if (host === undefined) return;
    host.running -= 1;
    if (holdMs > 0) {
      host.holds += 1;
      setTimeout(() => {
        host.holds -= 1;
        this.#changed(name, host);
      }, holdMs).unref();
    }
    this.#changed(name, host);
  }

  #changed(name: string, host: Host): void {
    if (host.running === 0 && host.holds === 0) this.#hosts.delete(name);
    if (host.holds > 0) return;
    const [first] = this.#observers;
    for (const observer of [...this.#observers]) observer(name);
    // The first scan moves to the end, so that scans take turns.
    if (first !== undefined && this.#observers.delete(first)) this.#observers.add(first);
  }
}
