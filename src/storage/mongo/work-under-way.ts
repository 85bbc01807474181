import type { MongoClient } from 'mongodb';
import { CapstanError } from '../../capture/errors.ts';

/**
 * The work under way on a client. The driver never settles a command that it sends over a connection that was lost a
 * moment before, so work that does not end soon after all connections to its server were lost is given up.
 */
export class WorkUnderWay {
  /** The function that gives up each work, with the servers that took writes while it ran: it was sent to no others. */
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
      const lost = [...this.#works].flatMap(([end, used]) => (used.has(address) ? [end] : []));
      const giveUp = () => {
        const reason = new CapstanError('database_unavailable', 'The server did not answer after it was disconnected.');
        for (const end of lost) end(reason);
      };
      if (lost.length > 0) setTimeout(giveUp, silenceMs).unref();
    });
  }

  /**
   * Rejects with `database_unavailable` when the work is given up, and aborts its signal; it may still have its effect.
   */
  run<T>(work: (givenUp: AbortSignal) => Promise<T>): Promise<T> {
    const ending = new AbortController();
    return new Promise((resolve, reject) => {
      const end = (reason: CapstanError): void => {
        ending.abort();
        reject(reason);
      };
      this.#works.set(end, new Set(this.#writable));
      Promise.try(work, ending.signal)
        .then(resolve, reject)
        .finally(() => this.#works.delete(end));
    });
  }
}
