import type { IncomingMessage } from 'node:http';
import { CapstanError } from '../../capture/errors.ts';
import { codeOf } from '../failures/write-failure.ts';
import { textIn } from './xml.ts';

export interface Answer {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly body: Buffer;
}

/** An answer of the store that is not what was asked for. */
class S3Refusal extends Error {
  override readonly name = 'S3Refusal';
  readonly status: number;
  /** The code of the store, such as `AccessDenied`. */
  readonly code: string;

  constructor(status: number, code: string, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

/** Codes of answers that say that the object itself is refused, whenever it is sent. */
const FINAL: ReadonlySet<string> = new Set(['EntityTooLarge', 'InvalidRequest', 'InvalidArgument', 'KeyTooLongError']);
const TRANSIENT: ReadonlySet<number> = new Set([408, 429, 500, 502, 503, 504]);

export function refusalOf({ status, headers, body }: Answer, region: string): S3Refusal {
  const xml = body.toString('utf8', 0, 4096);
  const code = textIn(xml, 'Code') || `HTTP ${status}`;
  const own = headers['x-amz-bucket-region'] ?? textIn(xml, 'Region');
  const hint = typeof own === 'string' && own !== '' && own !== region ? `; the bucket is in the region ${own}` : '';
  return new S3Refusal(
    status,
    code,
    `the object store answers ${code}: ${textIn(xml, 'Message').slice(0, 200)}${hint}`,
  );
}

/** Whether the same request may succeed at once: errors of the network included. */
export function isTransient(error: unknown): boolean {
  return error instanceof S3Refusal ? TRANSIENT.has(error.status) || error.code === 'RequestTimeout' : true;
}

/** The failure that callers get, without names of hosts and buckets. */
export function unavailable(error: unknown): CapstanError {
  if (error instanceof CapstanError) return error;
  const isRefusal = error instanceof S3Refusal;
  if (isRefusal && (FINAL.has(error.code) || error.status === 413)) {
    return new CapstanError('internal', undefined, { cause: error });
  }
  const why = isRefusal ? error.code : (codeOf(error) ?? 'no answer');
  return new CapstanError('artifacts_unavailable', `The object store cannot be used (${why}).`, { cause: error });
}
