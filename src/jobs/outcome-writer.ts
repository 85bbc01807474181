import { isAway } from '../storage/failures/is-away.ts';
import type { JobItem } from '../storage/ports/job-store.ts';

const RETRY_MS = 1_000;
/** Maximum number of outcomes that wait for the database; at this number the job pauses. */
const MAX_UNWRITTEN = 500;

/** Writes outcomes as they arrive, and retries while the database is unavailable. */
export class OutcomeWriter {
  readonly #write: (items: readonly JobItem[]) => Promise<void>;
  readonly #waiting: JobItem[] = [];
  #writing: Promise<void> | undefined;
  #failure: { readonly error: unknown } | undefined;

  constructor(write: (items: readonly JobItem[]) => Promise<void>) {
    this.#write = write;
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  add(item: JobItem): void {
    this.#waiting.push(item);
    this.#writing ??= this.#writeSome()
      .catch((error: unknown) => {
        this.#failure = { error };
      })
      .finally(() => {
        this.#writing = undefined;
      });
  }

  /** Resolves when there is room for further outcomes. */
  async room(): Promise<void> {
    while (this.#waiting.length >= MAX_UNWRITTEN) await this.#again();
  }

  /** Resolves when no outcome waits, or when `givenUp` returns true. */
  async written(givenUp: () => boolean): Promise<void> {
    await this.#writing;
    while (this.#waiting.length > 0 && !givenUp()) await this.#again();
  }

  async #again(): Promise<void> {
    await this.#writing;
    if (this.#failure !== undefined) throw this.#failure.error;
    if (this.#waiting.length === 0) return;
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    await this.#writeSome();
  }

  async #writeSome(): Promise<void> {
    while (this.#waiting.length > 0) {
      const items = this.#waiting.slice(0, MAX_UNWRITTEN);
      try {
        await this.#write(items);
      } catch (error) {
        if (isAway(error)) return;
        throw error;
      }
      this.#waiting.splice(0, items.length);
    }
  }
}
