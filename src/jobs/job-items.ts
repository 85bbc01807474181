import { CapstanError } from '../capture/errors.ts';
import type { HostVisits } from '../scans/host-visits.ts';
import { type ScanCaptures, type ScanItems, scanItems } from '../scans/scan-items.ts';
import type { JobStore, TakenJob } from '../storage/ports/job-store.ts';
import type { Work } from './stored-form.ts';

/** Returns what a job is still to capture: the requests without an outcome, or the targets of a scan's list. */
export function itemsOf(
  job: TakenJob,
  { requests, scan }: Work,
  store: JobStore,
  captures: Pick<ScanCaptures, 'find' | 'delivered'>,
  visits: HostVisits,
): ScanItems {
  if (scan !== undefined) {
    const [template] = requests;
    if (template === undefined) throw new CapstanError('internal', `The scan ${job.id} has no options.`);
    return scanItems(job, template, scan, store, captures, visits);
  }
  async function* items(): ScanItems['items'] {
    const done = new Set(await store.done(job.id, 0, requests.length));
    for (const [index, request] of requests.entries()) {
      if (!done.has(index)) yield { index, host: request.target.host, request, known: undefined };
    }
  }
  return { items: items(), ended: () => false, close: () => undefined };
}
