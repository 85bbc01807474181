import type { CaptureRequest } from '../../../capture-request.ts';
import type { Deadline } from '../../deadline.ts';
import type { IsolatedPage } from '../isolated-page.ts';

/** Has a page that is shown whole load what it loads only where somebody looks. */
export async function completePage(_page: IsolatedPage, _request: CaptureRequest, _deadline: Deadline): Promise<void> {}
