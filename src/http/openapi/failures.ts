import { CATALOGUE, type FailureCode } from '../../capture/errors.ts';
import type { Route } from '../route.ts';
import { type HeaderName, headerRefs } from './headers.ts';
import { type JsonObject, schemaRef } from './json-object.ts';

const BODY_FAILURES: readonly FailureCode[] = ['invalid_json', 'payload_too_large', 'unsupported_media_type'];
export const DATABASE_FAILURES: readonly FailureCode[] = ['database_not_enabled', 'database_unavailable'];

const FAILURE_HEADERS: Partial<Record<FailureCode, readonly HeaderName[]>> = {
  unauthorized: ['WWW-Authenticate'],
  method_not_allowed: ['Allow'],
  rate_limited: ['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset'],
  range_not_satisfiable: ['Content-Range'],
};

/** Returns the failures of a route by status: those that it names, and those that follow from its declaration. */
export function failuresOf({
  failures = [],
  parameters,
  body,
  isIdempotent,
  needsDatabase,
  isOpen,
}: Route): Readonly<Record<string, JsonObject>> {
  const codes = new Set<FailureCode>([
    ...(body === undefined ? [] : BODY_FAILURES),
    ...failures,
    ...(parameters?.shape.words !== undefined && needsDatabase ? (['phrase_too_frequent'] as const) : []),
    ...(isIdempotent ? (['idempotency_in_flight', 'idempotency_mismatch'] as const) : []),
    ...(isIdempotent || needsDatabase ? DATABASE_FAILURES : []),
    ...(isOpen ? [] : (['unauthorized', 'key_not_permitted'] as const)),
    'invalid_request',
    'host_not_allowed',
    'internal',
  ]);
  const statuses = [...new Set([...codes].map((code) => CATALOGUE[code].status))].toSorted((a, b) => a - b);
  return Object.fromEntries(
    statuses.map((status) => [status, failureAnswer([...codes].filter((code) => CATALOGUE[code].status === status))]),
  );
}

/** Returns the answer with one of these codes, which have the same status. The texts are those of the catalogue. */
export function failureAnswer(codes: readonly FailureCode[]): JsonObject {
  const schema = { allOf: [schemaRef('Failure'), { properties: { code: { enum: codes } } }] };
  return {
    description: codes.map((code) => `\`${code}\`: ${CATALOGUE[code].text}`).join(' '),
    headers: headerRefs([...new Set(codes.flatMap(headersOf))]),
    content: { 'application/json': { schema } },
  };
}

function headersOf(code: FailureCode): readonly HeaderName[] {
  return [...(FAILURE_HEADERS[code] ?? []), ...(CATALOGUE[code].retry === 'soon' ? (['Retry-After'] as const) : [])];
}
