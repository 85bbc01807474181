import type { CaptureRequest } from '../../../capture/request.ts';
import type { IsolatedPage } from '../isolated-page.ts';
import type { Picture } from '../screenshot/picture.ts';

/** What an output is made of. */
export interface Reading {
  readonly page: IsolatedPage;
  readonly request: CaptureRequest;
  readonly picture: Picture;
  /** Time limit in milliseconds. */
  readonly ms: number;
  /** Evaluates an expression in the page's document, in a world of outputs. Rejects when there is no answer. */
  readonly ask: (expression: string) => Promise<unknown>;
}
