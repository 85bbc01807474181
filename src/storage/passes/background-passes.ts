const FIRST_RETRY_MS = 200;
const MAX_RETRY_MS = 5000;

/**
 * Runs background work one pass at a time: the next one follows while work is left, and after a delay when a pass
 * failed.
 */
export class BackgroundPasses {
  readonly #pass: () => Promise<void>;
  readonly #isLeft: () => boolean;
  #timer: NodeJS.Timeout | undefined;
  #underWay: Promise<void> | undefined;
  #retryMs = FIRST_RETRY_MS;
  #stopped = false;

  /** `pass` rejects when it has failed and reports the failure itself. `isLeft`: whether work is left. */
  constructor(pass: () => Promise<void>, isLeft: () => boolean) {
    this.#pass = pass;
    this.#isLeft = isLeft;
  }

  get stopped(): boolean {
    return this.#stopped;
  }

  /**
   * Schedules a pass, unless one is scheduled or running. Without `delayMs` it uses the delay after a first failure.
   */
  plan(delayMs: number = this.#retryMs): void {
    if (this.#stopped || this.#timer !== undefined || this.#underWay !== undefined) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#underWay = this.#run().finally(() => {
        this.#underWay = undefined;
        if (this.#isLeft()) this.plan();
      });
    }, delayMs);
    this.#timer.unref();
  }

  /** Schedules a pass for now, unless the last one failed. */
  hasten(): void {
    if (this.#retryMs > FIRST_RETRY_MS) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.plan(0);
  }

  /** Notes that part of the pass succeeded, so that the next failure counts as the first again. */
  succeeded(): void {
    this.#retryMs = FIRST_RETRY_MS;
  }

  /** Schedules no further pass, and resolves when none is running. */
  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    await this.#underWay;
  }

  async #run(): Promise<void> {
    try {
      await this.#pass();
      this.succeeded();
    } catch {
      this.#retryMs = Math.min(this.#retryMs * 2, MAX_RETRY_MS);
    }
  }
}
