import type { IncomingMessage } from 'node:http';
import { codeOf } from '../../capture/basics/error-code.ts';
import { CapstanError } from '../../capture/errors.ts';
import { textIn } from './xml.ts';

export interface Answer {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly body: Buffer;
}

/** A request without an answer, or an answer that is not what was asked for. */
type Failed = Answer | { readonly error: unknown };

/** Codes of answers that say that the object itself is refused, whenever it is sent. */
const FINAL: ReadonlySet<string> = new Set(['EntityTooLarge', 'InvalidRequest', 'InvalidArgument', 'KeyTooLongError']);
const TRANSIENT: ReadonlySet<number> = new Set([408, 429, 500, 502, 503, 504]);

/** Returns what an answer says of its failure: a code of the store, such as `AccessDenied`, and a text. */
function refusalIn({ status, headers, body }: Answer, region: string): readonly [code: string, text: string] {
  const xml = body.toString('utf8', 0, 4096);
  const code = textIn(xml, 'Code') || `HTTP ${status}`;
  const own = headers['x-amz-bucket-region'] ?? textIn(xml, 'Region');
  const hint = typeof own === 'string' && own !== '' && own !== region ? `; the bucket is in the region ${own}` : '';
  return [code, `the object store answers ${code}: ${textIn(xml, 'Message').slice(0, 200)}${hint}`];
}

/** Whether the same request may succeed at once. */
export function isTransient(failed: Failed): boolean {
  return 'error' in failed || TRANSIENT.has(failed.status) || refusalIn(failed, '')[0] === 'RequestTimeout';
}

/** The failure that callers get. Only its cause names hosts and buckets. */
export function failureOf(failed: Failed, region: string): CapstanError {
  if ('error' in failed) return unavailable(codeOf(failed.error) ?? 'no answer', failed.error);
  const [code, text] = refusalIn(failed, region);
  const cause = new Error(text);
  if (FINAL.has(code) || failed.status === 413) return new CapstanError('internal', undefined, { cause });
  return unavailable(code, cause);
}

function unavailable(why: string, cause: unknown): CapstanError {
  return new CapstanError('artifacts_unavailable', `The object store cannot be used (${why}).`, { cause });
}
