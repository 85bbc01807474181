const FIRST_RETRY_MS = 200;
const MAX_RETRY_MS = 5000;

/** Work that nobody waits for, a pass at a time: again while some is left, and later each time that one fails. */
export class BackgroundPasses {
  readonly #pass: () => Promise<void>;
  readonly #isLeft: () => boolean;
  #timer: NodeJS.Timeout | undefined;
  #underWay: Promise<void> | undefined;
  #retryMs = FIRST_RETRY_MS;
  #stopped = false;

  /** `pass` rejects when it has failed, and has told of that itself. `isLeft`: whether there is anything to do. */
  constructor(pass: () => Promise<void>, isLeft: () => boolean) {
    this.#pass = pass;
    this.#isLeft = isLeft;
  }

  get stopped(): boolean {
    return this.#stopped;
  }

  /** Plans a pass, unless one is planned or under way. Without a delay it comes as soon as one after a failure would. */
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

  /** Some of it went well: a failure after that is the first again. */
  succeeded(): void {
    this.#retryMs = FIRST_RETRY_MS;
  }

  /** Plans no more, and resolves when none is under way. */
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
