import { once } from '../capture/basics/once.ts';
import { createFairQueue } from '../fairness/fair-queue.ts';
import { createPlaces, type Places } from '../fairness/share.ts';

interface Waiting {
  readonly owner: string | null;
  readonly begin: (free: () => void) => void;
}

interface Host {
  readonly places: Places;
  readonly queue: ReturnType<typeof createFairQueue<Waiting>>;
}

/**
 * Places of each host, as many as `most` returns. An owner leaves one of them to others. Owners, and the batches of
 * one, take turns.
 */
export function createHostPlaces(most: () => number) {
  const hosts = new Map<string, Host>();

  const hostOf = (name: string): Host => {
    const known = hosts.get(name);
    if (known !== undefined) return known;
    const places = createPlaces(most, (free, own) => free > 1 || own === 0);
    const host = { places, queue: createFairQueue<Waiting>((owner) => places.has(owner)) };
    hosts.set(name, host);
    return host;
  };

  const serveWaiting = (name: string, host: Host): void => {
    for (let next = host.queue.shift(); next !== undefined; next = host.queue.shift()) start(name, host, next);
  };
  const start = (name: string, host: Host, { owner, begin }: Waiting): void => {
    const release = host.places.take(owner);
    if (release === undefined) throw new TypeError(`there is no place for ${name}`);
    begin(
      once(() => {
        release();
        serveWaiting(name, host);
        if (host.places.taken === 0 && host.queue.length === 0) hosts.delete(name);
      }),
    );
  };

  return {
    /** Call it when there may be more places. */
    retry(): void {
      for (const [name, host] of hosts) serveWaiting(name, host);
    },
    /**
     * Calls `begin` when the host has a place, with a function that frees it. Returns a function that ends the wait, or
     * frees the place.
     */
    enter(name: string, owner: string | null, batch: string | null, begin: Waiting['begin']): () => void {
      const host = hostOf(name);
      let leave = (): void => {};
      const waiting: Waiting = {
        owner,
        begin: (free) => {
          leave = free;
          begin(free);
        },
      };
      if (host.places.has(owner)) start(name, host, waiting);
      else leave = host.queue.join(waiting, owner, batch);
      return () => leave();
    },
  };
}
