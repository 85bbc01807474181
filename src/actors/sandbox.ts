/** Whether browsers run in Chromium's sandbox: one answer for all of them. */
export class Sandbox {
  readonly #warn: (text: string) => void;
  readonly #optional: boolean;
  #on: boolean;

  /** `auto`: on, and off only where it cannot work, which `warn` is told. */
  constructor(mode: 'auto' | 'on' | 'off', warn: (text: string) => void) {
    this.#warn = warn;
    this.#optional = mode === 'auto';
    this.#on = mode !== 'off';
    if (this.#optional && process.getuid?.() === 0) {
      this.#on = false;
      warn('Chromium runs without its sandbox, which does not work for root: run as another user to have it');
    }
  }

  get on(): boolean {
    return this.#on;
  }

  /** A launch failed for `reason`. Returns whether to try it again without the sandbox. */
  giveUp(reason: string): boolean {
    if (!this.#on || !this.#optional || !/sandbox/i.test(reason)) return false;
    this.#on = false;
    this.#warn(`Chromium's sandbox does not work here, going on without it: ${reason}`);
    return true;
  }
}
