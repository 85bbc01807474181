import type { CaptureRequest } from '../../../capture/request.ts';
import type { IsolatedPage } from '../isolated-page.ts';

/** What an output is made of. */
export interface Reading {
  readonly page: IsolatedPage;
  readonly request: CaptureRequest;
  /** Evaluates an expression in the page's document, in a world of outputs. Rejects when there is no answer. */
  readonly ask: (expression: string) => Promise<unknown>;
}
