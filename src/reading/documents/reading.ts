import type { Deadline } from '../../capture/deadline.ts';
import type { CaptureRequest } from '../../capture/request.ts';
import type { Call } from '../../page/asking/page-scripts.ts';
import type { EvaluatedFrame } from '../../page/frames/page-session.ts';
import type { IsolatedPage } from '../../page/isolated-page.ts';
import type { Screenshot } from '../../page/screenshot/screenshot.ts';

/** Everything that an output is made of. */
export interface Reading {
  readonly page: IsolatedPage;
  readonly request: CaptureRequest;
  readonly screenshot: Screenshot;
  /** Time limit in milliseconds. */
  readonly ms: number;
  /**
   * Calls a script in the page's document or in that of a frame, in `world`; the browser ends it after `ms`, or after
   * this time. Rejects when there is no answer.
   */
  readonly ask: (script: Call, ms?: number, document?: EvaluatedFrame) => Promise<unknown>;
  /** Name of the isolated world of its scripts. */
  readonly world: string;
  readonly deadline: Deadline;
}
