import type { FailureCode } from '../../../capture/errors.ts';
import { DEFAULT_LIMIT, MAX_LIMIT } from '../../schemas/queries.ts';
import type { JsonObject } from '../components.ts';

/* What several operations have in common. */

/** How a capture that was admitted, or was not, may end badly. */
export const CAPTURE_FAILURES = [
  'target_forbidden',
  'queue_full',
  'not_a_page',
  'selector_not_found',
  'script_failed',
  'action_failed',
  'proxy_failed',
  'target_unreachable',
  'page_crashed',
  'browser_unavailable',
  'shutting_down',
  'capture_timeout',
  'storage_full',
] as const satisfies readonly FailureCode[];

export const BODY_FAILURES = [
  'invalid_json',
  'invalid_request',
  'payload_too_large',
  'unsupported_media_type',
] as const satisfies readonly FailureCode[];

export const IDEMPOTENCY_FAILURES = [
  'idempotency_in_flight',
  'idempotency_mismatch',
  'database_not_enabled',
  'database_unavailable',
] as const satisfies readonly FailureCode[];

export const DATABASE_FAILURES = [
  'database_not_enabled',
  'database_unavailable',
] as const satisfies readonly FailureCode[];

export const EVERYWHERE = ['unauthorized', 'internal'] as const satisfies readonly FailureCode[];

export const ID_PARAMETER = {
  name: 'id',
  in: 'path',
  required: true,
  description: "A capture's id, which is its result's id.",
  schema: { type: 'integer', minimum: 1 },
};

export const CURSOR_PARAMETER = {
  name: 'cursor',
  in: 'query',
  description: 'Where the page begins: opaque, taken from `Link: rel="next"`.',
  schema: { type: 'string' },
};

export function limitParameter(absent: string): JsonObject {
  return {
    name: 'limit',
    in: 'query',
    description: `Most records in the answer. Over ${MAX_LIMIT} is cut to ${MAX_LIMIT}; 0 or negative is ${DEFAULT_LIMIT}; absent: ${absent}.`,
    schema: { type: 'integer' },
  };
}

export function conditional(name: string, description: string): JsonObject {
  return { name, in: 'header', description, schema: { type: 'string' } };
}
