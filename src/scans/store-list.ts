import { CapstanError } from '../capture/errors.ts';
import { bytesText, STORED_LIMITS } from '../capture/stored-limits.ts';
import type { ListReport, ScanSettings } from '../capture/work/scan.ts';
import { MAX_SCAN_TARGETS } from '../capture/work/scan-limits.ts';
import type { JobStore } from '../storage/ports/job-store.ts';
import { readList } from '../targets/read-list.ts';
import { ListWriter } from './stored-list.ts';

/**
 * Time limit for a list and the sitemaps that it names, in milliseconds: its parts are kept for an hour without a job.
 */
const MAX_READING_MS = 15 * 60_000;

/** A list that was stored, and what it gave. */
interface StoredList {
  readonly report: ListReport;
  /** Bytes that it takes. */
  readonly bytes: number;
}

interface StoreListOptions {
  readonly expansion: Pick<ScanSettings, 'ports' | 'schemes'>;
  readonly openSitemap: (url: string) => AsyncIterable<Uint8Array>;
  /** Ends the reading. */
  readonly signal: AbortSignal;
  /** Called with the number of targets so far. An error that it throws refuses the list. */
  readonly requireRate: (targets: number) => void;
}

/**
 * Stores the list of a job as it arrives. Rejects with `invalid_request` when it has no target or too many, and with
 * `payload_too_large` when it is too long; nothing of it is kept then.
 */
export async function storeList(
  store: Pick<JobStore, 'putList' | 'cancel'>,
  id: string,
  list: AsyncIterable<Uint8Array>,
  { expansion, openSitemap, signal: ended, requireRate }: StoreListOptions,
): Promise<StoredList> {
  const writer = new ListWriter(store, id);
  const late = AbortSignal.timeout(MAX_READING_MS);
  const signal = AbortSignal.any([late, ended]);
  const entries = readList(list, { expansion, maxTargets: MAX_SCAN_TARGETS, openSitemap, signal });
  try {
    let targets = 0;
    for (;;) {
      const step = await entries.next();
      signal.throwIfAborted();
      if (step.done === true) {
        if (step.value.targets === 0) throw noTargets(step.value);
        await writer.end();
        return { report: step.value, bytes: writer.bytes };
      }
      for (const { size } of step.value) targets += size;
      if (targets > MAX_SCAN_TARGETS) throw tooMany();
      requireRate(targets);
      if (writer.bytes > STORED_LIMITS.scanList.bytes) throw tooLong();
      await writer.add(step.value.map(({ text }) => text));
    }
  } catch (error) {
    await entries.return?.({ form: 'lines', targets: 0, left_out: {}, problems: [] });
    await store.cancel(id).catch(() => undefined);
    throw late.aborted ? tooSlow() : error;
  }
}

function tooSlow(): CapstanError {
  const minutes = MAX_READING_MS / 60_000;
  return new CapstanError('invalid_request', `The list, with its sitemaps, was not read within ${minutes} minutes.`);
}

function noTargets({ form, left_out: leftOut, problems }: ListReport): CapstanError {
  const [first] = problems;
  const why = Object.entries(leftOut).map(([reason, count]) => `${count} ${reason}`);
  const found = why.length === 0 ? 'it is empty' : `left out: ${why.join(', ')}`;
  const example = first === undefined ? '' : `; line ${first.line}: ${JSON.stringify(first.text)} ${first.problem}`;
  return new CapstanError('invalid_request', `The list, read as ${form}, has no target: ${found}${example}.`);
}

function tooMany(): CapstanError {
  const max = MAX_SCAN_TARGETS.toLocaleString('en');
  return new CapstanError(
    'invalid_request',
    `The list has more than ${max} targets, with all ports and schemes: divide it.`,
  );
}

function tooLong(): CapstanError {
  const max = bytesText(STORED_LIMITS.scanList.bytes);
  return new CapstanError('payload_too_large', `The list takes more than ${max} compressed: divide it.`);
}
