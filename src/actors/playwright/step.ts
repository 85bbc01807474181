import type { Page } from 'playwright';

/** The time limit of Playwright's calls. Read before each call, because a step makes several. */
export interface Patience {
  /** Milliseconds from now. */
  readonly timeout: number;
}

/** One step of an interaction with a page. */
export interface Step {
  /** Name of the step in error messages. */
  readonly name: string;
  readonly selector?: string | undefined;
  /** Rejects as Playwright does, with a `TimeoutError` when time has run out. */
  readonly take: (page: Page, patience: Patience) => Promise<unknown>;
}
