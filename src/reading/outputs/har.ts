import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Output } from '../../capture/result/snapshot.ts';
import type { Reading } from '../documents/reading.ts';

/** Share of the output's time that bodies are awaited for. */
const BODIES_SHARE = 0.5;
/** Number of bytes that are written before other work gets its turn. */
const TURN_BYTES = 1024 * 1024;

/**
 * Returns the requests that the page has sent so far, with their times and headers, and with their bodies on request.
 */
export async function archiveRequests({ page, ms }: Reading): Promise<Output> {
  const { har: recorder } = page.notes;
  if (recorder === undefined) throw new Error('nothing was recorded');
  const history = await page.session.send('Page.getNavigationHistory');
  const title = history.entries[history.currentIndex]?.title ?? '';
  const { log, entries, partial } = await recorder.archive(title, ms * BODIES_SHARE);
  const parts = [Buffer.from(`{"log":${JSON.stringify(log).slice(0, -1)},"entries":[`)];
  let written = 0;
  for (const entry of entries) {
    const part = Buffer.from(`${written === 0 ? '' : ','}\n${JSON.stringify(entry)}`);
    parts.push(part);
    if (Math.floor(written / TURN_BYTES) < Math.floor((written + part.length) / TURN_BYTES)) await nextTurn();
    written += part.length;
  }
  return { content: Buffer.concat([...parts, Buffer.from('\n]}}\n')]), partial };
}
