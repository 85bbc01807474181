import type { WireRecord } from './wire-formats.ts';

/** The upstream's description of a failure, whatever the HTTP status. */
export interface ErrorRecord {
  /** `''` when absent. */
  readonly reason: string;
  readonly message: string;
  readonly reserved: boolean;
  /** Seconds, from the older form of a rate-limit record; null when absent. */
  readonly wait: number | null;
}

/**
 * Returns the error that a record describes, or null when it is not an error record. `{ip, reserved: true}` is an older
 * form.
 */
export function asErrorRecord(record: WireRecord | null): ErrorRecord | null {
  if (record === null) return null;
  const reserved = isTrue(record.reserved);
  const { error } = record;
  const reasonText = typeof error === 'string' && !/^(?:true|false|none|null|0|1|)$/i.test(error) ? error : '';
  if (!reserved && !isTrue(error) && reasonText === '') return null;
  return {
    reason: text(record.reason) || reasonText,
    message: text(record.message),
    reserved,
    wait: seconds(record.wait),
  };
}

/** Formats other than JSON carry text only. */
function isTrue(value: unknown): boolean {
  return value === true || value === 1 || (typeof value === 'string' && /^(?:true|1)$/i.test(value));
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function seconds(value: unknown): number | null {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  return typeof number === 'number' && Number.isFinite(number) && number >= 0 ? number : null;
}
