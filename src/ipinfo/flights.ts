interface Flight<T> {
  readonly landing: Promise<T>;
  readonly controller: AbortController;
  passengers: number;
}

/** Shares work among concurrent callers: equal pieces of work are done once for all of them. */
export class Flights<T> {
  readonly #underWay = new Map<string, Flight<T>>();

  /**
   * Returns the outcome of the work named `key`, which is started only when it is not running yet. An aborted `signal`
   * ends this caller's wait; the work itself is aborted when its last caller leaves.
   */
  async join(key: string, signal: AbortSignal | undefined, start: (signal: AbortSignal) => Promise<T>): Promise<T> {
    signal?.throwIfAborted();
    const flight = this.#underWay.get(key) ?? this.#launch(key, start);
    flight.passengers += 1;
    try {
      return await untilAborted(flight.landing, signal);
    } finally {
      flight.passengers -= 1;
      if (flight.passengers === 0) {
        this.#forget(key, flight);
        flight.controller.abort(signal?.reason);
      }
    }
  }

  #launch(key: string, start: (signal: AbortSignal) => Promise<T>): Flight<T> {
    const controller = new AbortController();
    const flight: Flight<T> = { landing: start(controller.signal), controller, passengers: 0 };
    this.#underWay.set(key, flight);
    return flight;
  }

  #forget(key: string, flight: Flight<T>): void {
    if (this.#underWay.get(key) === flight) this.#underWay.delete(key);
  }
}

/** Waits for `work` until `signal` is aborted; then rejects with the signal's reason. */
export function untilAborted<T>(work: PromiseLike<T>, signal: AbortSignal | undefined): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const leave = (): void => reject(signal?.reason);
    if (signal?.aborted === true) leave();
    signal?.addEventListener('abort', leave, { once: true });
    work.then(
      (value) => {
        signal?.removeEventListener('abort', leave);
        resolve(value);
      },
      (error: unknown) => {
        signal?.removeEventListener('abort', leave);
        reject(error);
      },
    );
  });
}
