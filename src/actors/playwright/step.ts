import type { Page } from 'playwright';
import type { Deadline } from '../../capture/deadline.ts';
import type { IsolatedPage } from '../../page/isolated-page.ts';

/** The time limit of Playwright's calls. Read before each call, because a step makes several. */
export interface Patience {
  /** Milliseconds from now. */
  readonly timeout: number;
}

/** A page as Playwright sees it, and as the direct driver does. */
export interface Stage {
  readonly page: Page;
  readonly isolated: IsolatedPage;
  readonly deadline: Deadline;
  readonly patience: Patience;
}

/** One step of an interaction with a page. */
export interface Step {
  /** Name of the step in error messages. */
  readonly name: string;
  readonly selector?: string | undefined;
  /** The text of the element that the step looks for, when it has no selector. */
  readonly text?: string | undefined;
  /** Whether the step takes elements that are not visible, too. */
  readonly takesHidden?: boolean;
  /** Rejects as Playwright does, with a `TimeoutError` when time has run out. */
  readonly take: (stage: Stage) => Promise<unknown>;
}
