import { retryAfterMs } from '../capture/basics/retry-after.ts';
import type { CaptureOutcome } from '../capture/outcome.ts';
import type { CaptureRequest } from '../capture/request.ts';
import type { Result } from '../capture/result/result.ts';
import { targetOf } from '../capture/target.ts';
import { DEFAULT_PER_HOST, type ScanSettings } from '../capture/work/scan.ts';
import type { JobStore, TakenJob } from '../storage/ports/job-store.ts';
import type { ResultStore } from '../storage/ports/result-store.ts';
import { HostOrder, WINDOW } from './host-order.ts';
import type { HostVisits } from './host-visits.ts';
import { targetsLeft } from './stored-list.ts';

const BUSY: ReadonlySet<number> = new Set([429, 503]);

/** Captures that are stored. Rejects as a `ResultStore` does. */
export interface ScanCaptures {
  /** Returns the capture of a target that a scan has already; undefined when there is none. */
  readonly find: (scan: string, request: CaptureRequest) => Promise<Result | undefined>;
  /** Resolves when the records that an ended process left on disk are in the database, at the latest after a minute. */
  readonly delivered: () => Promise<void>;
  /** Returns the id of an earlier capture of the same scan that shows the page to which this one was redirected. */
  readonly sameAs: (result: Result) => Promise<number | undefined>;
  readonly records: ResultStore['records'];
  readonly remove: (id: number) => Promise<void>;
}

/** A target to capture. `known`: its capture, when an interrupted run has made it already. */
export interface ScanItem {
  readonly index: number;
  readonly host: string;
  readonly request: CaptureRequest;
  readonly known: Result | undefined;
}

/**
 * Number of targets after the last one with an outcome among which an interrupted run may have left captures whose
 * outcome was not written: those read ahead, running, dialled (at most 10,000), or waiting to be written.
 */
const UNCERTAIN = WINDOW + 20_000;

/** The targets that a scan is still to capture, in an order that spares their hosts. */
export interface ScanItems {
  readonly items: AsyncGenerator<ScanItem, void, undefined>;
  /** Ends an item. Returns whether it comes once more, because its target asked for it (`Retry-After`). */
  readonly ended: (item: ScanItem, outcome: CaptureOutcome) => boolean;
  /** Stops all waiting. */
  readonly close: () => void;
}

export function scanItems(
  { id, isResumed }: Pick<TakenJob, 'id' | 'isResumed'>,
  template: CaptureRequest,
  settings: ScanSettings,
  store: Pick<JobStore, 'list' | 'done' | 'progress'>,
  captures: Pick<ScanCaptures, 'find' | 'delivered'>,
  visits: HostVisits,
): ScanItems {
  /** Items that have been captured again. */
  const again = new Set<number>();

  async function* placed(): AsyncGenerator<Omit<ScanItem, 'known'>, void, undefined> {
    for await (const { index, url, schemeAssumed } of targetsLeft(store, id, settings)) {
      const target = targetOf(url, schemeAssumed);
      yield { index, host: target.host, request: { ...template, target, scan: id } };
    }
  }

  const { perHost = DEFAULT_PER_HOST, sameHostDelayMs: delayMs = 0 } = settings;
  const order = new HostOrder(placed(), { perHost, delayMs, visits });

  async function* items(): AsyncGenerator<ScanItem, void, undefined> {
    if (isResumed) await captures.delivered();
    const certainFrom = isResumed ? (await store.progress(id)).highest + UNCERTAIN : -1;
    for (let next = await order.next(); next !== undefined; next = await order.next()) {
      const known = next.index <= certainFrom ? await captures.find(id, next.request) : undefined;
      yield { ...next, known };
    }
  }

  return {
    items: items(),
    ended: ({ known: _known, ...item }, outcome) => {
      const ms = again.delete(item.index) ? undefined : waitAskedBy(outcome, Date.now());
      if (ms === undefined || ms > template.timeoutMs) {
        // The host asked for more time than the scan has: its other targets wait for as long as one may take.
        order.release(item, Math.min(ms ?? 0, template.timeoutMs));
        return false;
      }
      again.add(item.index);
      order.again(item, ms);
      return true;
    },
    close: () => order.close(),
  };
}

/**
 * Returns the time after which a target wants to be asked again, in milliseconds: a `Retry-After` of seconds or a date
 * with the status 429 or 503. Undefined when it names none.
 */
function waitAskedBy(outcome: CaptureOutcome, now: number): number | undefined {
  if (outcome.state !== 'stored' || !BUSY.has(outcome.result.response_code)) return undefined;
  const header = outcome.evidence?.headers?.items.find(({ name }) => name.toLowerCase() === 'retry-after');
  return retryAfterMs(header?.value, now) ?? undefined;
}
