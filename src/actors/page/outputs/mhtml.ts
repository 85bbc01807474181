import type { Output } from '../../../capture/snapshot.ts';
import type { Reading } from './reading.ts';

/** Maximum size of an archive. A part of one could not be opened, so a larger one is none. */
const MAX_BYTES = 64 * 1024 * 1024;

/** Archives the page with everything that it shows, as one file that needs no network. */
export async function archivePage({ page }: Reading): Promise<Output> {
  const content = await page.session.archive();
  if (content.byteLength > MAX_BYTES) throw new RangeError(`the archive has more than ${MAX_BYTES} bytes`);
  return { content, partial: false };
}
