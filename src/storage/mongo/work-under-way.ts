import type { MongoClient } from 'mongodb';
import { CapstanError } from '../../capture/errors.ts';

/**
 * The work under way on a client. The driver never settles a command that it sends over a connection that was lost a
 * moment before, so work that does not end soon after all connections to its server were lost is given up.
 */
export class WorkUnderWay {
  /** For each work its `reject`, and the servers that took writes meanwhile: it was sent to no others. */
  readonly #works = new Map<(reason: CapstanError) => void, Set<string>>();
  #writable: readonly string[] = [];

  /** `silenceMs`: time for work to end after connections were lost, in milliseconds. */
  constructor(client: MongoClient, silenceMs: number) {
    client.on('topologyDescriptionChanged', ({ newDescription }) => {
      const servers = [...newDescription.servers.values()];
      this.#writable = servers.flatMap(({ isWritable, address }) => (isWritable ? [address] : []));
      for (const used of this.#works.values()) for (const address of this.#writable) used.add(address);
    });
    client.on('connectionPoolCleared', ({ address }) => {
      const lost = [...this.#works].flatMap(([reject, used]) => (used.has(address) ? [reject] : []));
      const giveUp = () => {
        const reason = new CapstanError('database_unavailable', 'The server did not answer after it was disconnected.');
        for (const reject of lost) reject(reason);
      };
      if (lost.length > 0) setTimeout(giveUp, silenceMs).unref();
    });
  }

  /** Rejects with `database_unavailable` when the work is given up; it may still have its effect. */
  run<T>(work: () => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#works.set(reject, new Set(this.#writable));
      Promise.try(work)
        .then(resolve, reject)
        .finally(() => this.#works.delete(reject));
    });
  }
}
