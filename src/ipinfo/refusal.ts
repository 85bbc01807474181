import {
  InvalidIPError,
  InvalidKeyError,
  type IpapiError,
  type IpapiErrorDetails,
  MethodNotAllowedError,
  NotFoundError,
  RateLimitedError,
  ReservedIPError,
  ServerError,
  UnexpectedStatusError,
} from './errors.ts';
import type { Reply } from './execute.ts';
import type { Format } from './names.ts';
import type { Settings } from './options.ts';
import type { WireRecord } from './wire-formats.ts';
import { readJson, readPythonRecord, readRecord } from './wire-formats.ts';

/** Returns the error that a reply describes; null for a success. An error record is an error at any HTTP status. */
export function refusalOf(reply: Reply, kind: Format | 'field', settings: Settings): IpapiError | null {
  const record = findErrorRecord(reply, kind);
  const succeeded = reply.status >= 200 && reply.status < 300;
  if (record === null) return succeeded ? null : byStatus(reply, null, settings);
  return (
    byRecord(reply, record, settings) ??
    (succeeded ? unknownReason(reply, record, settings) : byStatus(reply, record, settings))
  );
}

/** Errors arrive in the requested format, as JSON, or (from the field endpoints) as a Python dict. */
function findErrorRecord(reply: Reply, kind: Format | 'field'): ErrorRecord | null {
  const text = new TextDecoder().decode(reply.body);
  const asAsked = kind === 'field' ? null : asErrorRecord(readRecord(kind, text));
  return asAsked ?? asErrorRecord(readJson(text)) ?? asErrorRecord(readPythonRecord(text));
}

function byRecord(reply: Reply, record: ErrorRecord, settings: Settings): IpapiError | null {
  const details = detailsOf(reply, record, settings);
  const upstreamText = quote([record.message], settings);
  if (record.reserved) return new ReservedIPError('The address is private or reserved.', details);
  switch (record.reason.toLowerCase().replace(/[^a-z]/g, '')) {
    case 'ratelimited':
      return rateLimited(reply, record, details, upstreamText);
    case 'invalidkey':
      return invalidKey(settings, details, upstreamText);
    case 'invalidipaddress':
      return new InvalidIPError(`The upstream reports an invalid IP address.${upstreamText}`, details);
    case 'reservedipaddress':
      return new ReservedIPError(`The address is private or reserved.${upstreamText}`, details);
    default:
      return null;
  }
}

function byStatus(reply: Reply, record: ErrorRecord | null, settings: Settings): IpapiError {
  const details = detailsOf(reply, record, settings);
  const upstreamText = quote([record?.reason, record?.message], settings);
  switch (reply.status) {
    case 400:
      return new ServerError(`The upstream rejected the request (400).${upstreamText}`, details);
    case 403:
      return invalidKey(settings, details, upstreamText);
    case 404:
      return new NotFoundError(`The upstream has no record of this address (404).${upstreamText}`, details);
    case 405:
      return new MethodNotAllowedError(`The upstream does not allow this method (405).${upstreamText}`, details);
    case 429:
      return rateLimited(reply, record, details, upstreamText);
    case 500:
      return new ServerError(`The upstream failed with an internal error (500).${upstreamText}`, details);
    default:
      return new UnexpectedStatusError(`unexpected status code: ${reply.status}`, details);
  }
}

function unknownReason(reply: Reply, record: ErrorRecord, settings: Settings): IpapiError {
  const upstreamText = quote([record.reason, record.message], settings) || ' no reason given';
  return new ServerError(`The upstream returned an error:${upstreamText}`, detailsOf(reply, record, settings));
}

const MAX_QUOTE = 300;

/** Quotes the upstream's reason for the end of an error text: without the key, and truncated. */
function quote(said: readonly (string | undefined)[], settings: Settings): string {
  const text = settings.redact(said.filter(Boolean).join(': '));
  return text === '' ? '' : ` ${text.slice(0, MAX_QUOTE)}`;
}

function invalidKey(settings: Settings, details: IpapiErrorDetails, upstreamText: string): IpapiError {
  const message =
    settings.apiKey === null ? 'No key was sent, and the upstream blocks this network.' : 'The key is not valid.';
  return new InvalidKeyError(`${message}${upstreamText}`, details);
}

function rateLimited(
  reply: Reply,
  record: ErrorRecord | null,
  details: IpapiErrorDetails,
  upstreamText: string,
): IpapiError {
  const retryAfterMs =
    readRetryAfter(reply.retryAfter) ?? (record?.wait != null ? Math.ceil(record.wait * 1000) : null);
  return new RateLimitedError(`The quota is used up.${upstreamText}`, { ...details, retryable: true, retryAfterMs });
}

function detailsOf(reply: Reply, record: ErrorRecord | null, settings: Settings): IpapiErrorDetails {
  return {
    status: reply.status,
    attempts: reply.attempts,
    reason: settings.redact(record?.reason ?? '').slice(0, MAX_QUOTE),
    retryable: reply.status >= 500,
  };
}

/** Parses a Retry-After header (seconds or a date) into milliseconds; null for anything else. */
function readRetryAfter(header: string | undefined): number | null {
  if (header === undefined) return null;
  if (/^\s*\d+(?:\.\d+)?\s*$/.test(header)) return Math.ceil(Number(header) * 1000);
  const date = Date.parse(header);
  return Number.isNaN(date) ? null : Math.max(0, date - Date.now());
}

/** The upstream's description of a failure, whatever the HTTP status. */
interface ErrorRecord {
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
function asErrorRecord(record: WireRecord | null): ErrorRecord | null {
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
