import type { Deadline } from '../../capture/deadline.ts';
import { askPage } from '../ask-page.ts';
import type { IsolatedPage } from '../isolated-page.ts';
import { call } from '../page-scripts.ts';

/**
 * Remembers what has come over the window while the page was scrolled, so that the screenshot hides that, and leaves
 * what comes later. Call it at the top of the page.
 */
export async function notePopups(page: IsolatedPage, deadline: Deadline): Promise<void> {
  await askPage(page, deadline, 'look for popups', call('note-popups'));
}
