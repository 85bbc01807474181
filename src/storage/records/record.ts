import { CapstanError } from '../../capture/errors.ts';
import type { ResultConditions } from '../../capture/finding/result-conditions.ts';
import type { Evidence } from '../../capture/result/evidence.ts';
import type { DetailedResult, Result, StoredRecord } from '../../capture/result/result.ts';
import type { Keyset } from '../ports/result-store.ts';

/**
 * A record as read from one of our stores. Only fields that the stores themselves use are checked, so that fields which
 * a later version adds pass through.
 */
export function asRecord(value: unknown): Result {
  if (!isRecord(value)) throw new CapstanError('internal', undefined, { cause: new Error('the record is damaged') });
  return value;
}

/** Returns the record with its stored evidence, or with null when there is none. */
export function asDetailed(record: unknown, evidence: unknown): DetailedResult {
  return { ...asRecord(record), evidence: isEvidence(evidence) ? evidence : null };
}

/** Returns the record alone: without evidence and words, which are stored beside it. */
export function withoutEvidence({ evidence: _evidence, words: _words, ...record }: StoredRecord): Result {
  return record;
}

/** Checks the fields that every evidence has. */
function isEvidence(value: unknown): value is Evidence {
  return typeof value === 'object' && value !== null && 'dialogs' in value && 'popups' in value && 'cookies' in value;
}

function isRecord(value: unknown): value is Result {
  return (
    typeof value === 'object' &&
    value !== null &&
    'id' in value &&
    Number.isSafeInteger(value.id) &&
    'url' in value &&
    typeof value.url === 'string' &&
    'host' in value &&
    typeof value.host === 'string' &&
    'probed_at' in value &&
    typeof value.probed_at === 'string'
  );
}

/** Returns the time of a record or keyset, in milliseconds since the Unix epoch. */
export function timeOf(iso: string): number {
  const ms = Date.parse(iso);
  if (Number.isNaN(ms)) throw new CapstanError('invalid_request', `"${iso}" is no time; it takes ISO 8601`);
  return ms;
}

/** Returns a keyset as numbers; without one, the position before the newest. */
export function placeOf(after: Keyset | undefined): { readonly probedAt: number; readonly id: number } {
  return after === undefined
    ? { probedAt: 8.64e15, id: Number.MAX_SAFE_INTEGER }
    : { probedAt: timeOf(after.probedAt), id: after.id };
}

/** Returns where a list with conditions begins: at the keyset or, where that is later, at the end of its time range. */
export function startOf({ to }: ResultConditions, after: Keyset | undefined): Keyset | undefined {
  if (to === undefined) return after;
  return after === undefined || timeOf(after.probedAt) >= timeOf(to) ? { probedAt: to, id: 0 } : after;
}
