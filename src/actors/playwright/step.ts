import type { Page } from 'playwright-core';

/** What Playwright may wait. Looked at anew for each of its calls: a step is made of several. */
export interface Patience {
  /** Milliseconds from now. */
  readonly timeout: number;
}

/** One thing that is done on a page. */
export interface Step {
  /** What it is called in a failure. */
  readonly name: string;
  readonly selector?: string | undefined;
  /** Rejects as Playwright does, with a `TimeoutError` when patience is over. */
  readonly take: (page: Page, patience: Patience) => Promise<unknown>;
}
