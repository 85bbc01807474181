import type { CaptureRequest } from '../../../capture-request.ts';
import type { Deadline } from '../../deadline.ts';
import type { IsolatedPage } from '../isolated-page.ts';

/** What the request changes on a page that has loaded, in a document that it is called for once. */
export async function changePage(_page: IsolatedPage, _request: CaptureRequest, _deadline: Deadline): Promise<void> {}
