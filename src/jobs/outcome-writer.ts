import { setTimeout as delay } from 'node:timers/promises';
import { isAway } from '../storage/failures/store-errors.ts';
import type { JobItem } from '../storage/ports/job-store.ts';

const RETRY_MS = 1_000;
/** Maximum number of outcomes that wait for the database; at this number the job pauses. */
const MAX_UNWRITTEN = 500;

/** Writes outcomes as they arrive, and retries while the database is unavailable, unless the service stops. */
export class OutcomeWriter {
  readonly #write: (items: readonly JobItem[]) => Promise<void>;
  readonly #stopped: () => boolean;
  readonly #waiting: JobItem[] = [];
  #writing: Promise<void> | undefined;
  #givenUp = false;

  constructor(write: (items: readonly JobItem[]) => Promise<void>, stopped: () => boolean) {
    this.#write = write;
    this.#stopped = stopped;
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  add(item: JobItem): void {
    this.#waiting.push(item);
    // A failure other than an outage reaches the job through `room` or `written`.
    this.written().catch(() => undefined);
  }

  /** Resolves when there is room for further outcomes. */
  async room(): Promise<void> {
    if (this.#waiting.length >= MAX_UNWRITTEN) await this.written();
  }

  /** Resolves when no outcome waits, or the service stops. */
  async written(): Promise<void> {
    while (this.#waiting.length > 0 && !this.#givenUp) {
      this.#writing ??= this.#writeSome().finally(() => {
        this.#writing = undefined;
      });
      await this.#writing;
    }
  }

  async #writeSome(): Promise<void> {
    const items = this.#waiting.slice(0, MAX_UNWRITTEN);
    try {
      await this.#write(items);
      this.#waiting.splice(0, items.length);
    } catch (error) {
      if (!isAway(error)) throw error;
      if (this.#stopped()) this.#givenUp = true;
      else await delay(RETRY_MS);
    }
  }
}
