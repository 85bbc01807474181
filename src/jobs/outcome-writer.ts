import { setTimeout as delay } from 'node:timers/promises';
import { isAway } from '../storage/failures/is-away.ts';
import type { JobItem } from '../storage/ports/job-store.ts';

const RETRY_MS = 1_000;
/** Maximum number of outcomes that wait for the database; at this number the job pauses. */
const MAX_UNWRITTEN = 500;

/** Writes outcomes as they arrive, and retries while the database is unavailable, unless the service stops. */
export class OutcomeWriter {
  readonly #write: (items: readonly JobItem[]) => Promise<void>;
  readonly #stopped: () => boolean;
  readonly #waiting: JobItem[] = [];
  #writing: Promise<void> = Promise.resolve();

  constructor(write: (items: readonly JobItem[]) => Promise<void>, stopped: () => boolean) {
    this.#write = write;
    this.#stopped = stopped;
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  add(item: JobItem): void {
    this.#waiting.push(item);
    // A failure other than an outage is thrown where the job waits for its outcomes.
    this.written().catch(() => undefined);
  }

  /** Resolves when there is room for further outcomes. */
  async room(): Promise<void> {
    if (this.#waiting.length >= MAX_UNWRITTEN) await this.written();
  }

  /** Resolves when no outcome waits, or the service stops. */
  written(): Promise<void> {
    const written = this.#writing.then(() => this.#writeAll());
    this.#writing = written.catch(() => undefined);
    return written;
  }

  async #writeAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      const items = this.#waiting.slice(0, MAX_UNWRITTEN);
      try {
        await this.#write(items);
        this.#waiting.splice(0, items.length);
      } catch (error) {
        if (!isAway(error)) throw error;
        if (this.#stopped()) return;
        await delay(RETRY_MS);
      }
    }
  }
}
