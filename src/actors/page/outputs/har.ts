import type { Output } from '../../../capture/snapshot.ts';
import type { Reading } from './reading.ts';

/** Returns the requests that the page has sent so far, with their times and headers and without bodies. */
export async function archiveRequests({ page }: Reading): Promise<Output> {
  const { har: recorder } = page.notes;
  if (recorder === undefined) throw new Error('nothing was recorded');
  const history = await page.session.send('Page.getNavigationHistory');
  const { har, partial } = recorder.archive(history.entries[history.currentIndex]?.title ?? '');
  return { content: `${JSON.stringify(har)}\n`, partial };
}
