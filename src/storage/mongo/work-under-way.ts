import type { MongoClient } from 'mongodb';
import { CapstanError } from '../../capture/errors.ts';

/**
 * The work under way on a client. The driver never settles a command that it sends over a connection that was lost a
 * moment before, so work that does not end soon after connections were lost is given up.
 */
export class WorkUnderWay {
  readonly #rejects = new Set<(reason: CapstanError) => void>();

  /** `silenceMs`: time for work to end after connections were lost, in milliseconds. */
  constructor(client: MongoClient, silenceMs: number) {
    client.on('connectionPoolCleared', () => {
      const lost = [...this.#rejects];
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
      this.#rejects.add(reject);
      work()
        .then(resolve, reject)
        .finally(() => this.#rejects.delete(reject));
    });
  }
}
