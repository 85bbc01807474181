import type { BatchItem } from '../capture/outcome.ts';
import { STORED_LIMITS } from '../capture/stored-limits.ts';
import type { JobItem, Page } from '../storage/ports/job-store.ts';
import { RECORDS_TOGETHER } from '../storage/ports/result-store.ts';
import type { ScanCaptures } from './scan-items.ts';
import { captureOf, unpackOutcome } from './stored-outcome.ts';

/** Reads the captures of a page of outcomes, a few at a time, and ends the page when they are large. */
export async function withCaptures(
  { items, isCut }: Page<JobItem>,
  captures: Pick<ScanCaptures, 'records'>,
): Promise<Page<BatchItem>> {
  const read: BatchItem[] = [];
  let characters = 0;
  for (let from = 0; from < items.length; from += RECORDS_TOGETHER) {
    const some = items.slice(from, from + RECORDS_TOGETHER);
    const found = await captures.records(some.map(captureOf).filter((id) => id !== null));
    for (const item of some) {
      if (characters >= STORED_LIMITS.page.bytes) return { items: read, isCut: true };
      const outcome = unpackOutcome(item, found.get(captureOf(item) ?? 0));
      read.push(outcome);
      characters += JSON.stringify(outcome).length;
    }
  }
  return { items: read, isCut };
}
