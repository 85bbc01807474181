import { CATALOGUE, type FailureCode } from '../../capture/errors.ts';
import { LINES_TYPE } from '../lines/streamed-body.ts';
import { type JsonObject, schemaRef } from './components.ts';

const REQUEST_ID = { 'X-Request-Id': { $ref: '#/components/headers/X-Request-Id' } };

/** Headers that every document has, and that answers refer to. */
export const COMPONENT_HEADERS: JsonObject = {
  'X-Request-Id': header("The request's id: the client's own, when it sent a sane one."),
  'X-Capture-Id': header('The id of the capture that the body belongs to.'),
  'X-Capture-Cached': header('`true`: the image is that of an earlier capture (`cacheMaxAgeMs`).'),
  Location: header('Path of the capture, `/screenshot/<id>`, or of the job, `/jobs/<id>`.'),
  'Preference-Applied': header('`respond-async`.'),
  ETag: header('Strong; the same bytes have the same tag.'),
  Link: header('`<path>; rel="next"`: the address of the next page, relative to this host. Absent on the last page.'),
  'Idempotent-Replayed': header('`true`: this is the first answer to this Idempotency-Key.'),
  'Retry-After': header('Seconds after which to try again.', { type: 'integer', minimum: 0 }),
  Allow: header('The methods that this path has.'),
  'WWW-Authenticate': header('`Bearer`.'),
  'Content-Range': header('Which bytes of how many.'),
  'Accept-Ranges': header('`bytes`.'),
  'Cache-Control': header('`private, max-age=31536000, immutable`.'),
  'Content-Security-Policy': header('Sandboxes the page: no script, no request to anywhere.'),
};

function header(description: string, schema: JsonObject = { type: 'string' }): JsonObject {
  return { description, schema };
}

const FAILURE_HEADERS: Partial<Record<FailureCode, readonly string[]>> = {
  unauthorized: ['WWW-Authenticate'],
  method_not_allowed: ['Allow'],
  queue_full: ['Retry-After'],
  idempotency_in_flight: ['Retry-After'],
  range_not_satisfiable: ['Content-Range'],
};

/** One answer that is not a failure. */
export function response(description: string, content: JsonObject, headers: readonly string[] = []): JsonObject {
  return { description, headers: headerRefs(headers), content };
}

export function jsonContent(schema: JsonObject): JsonObject {
  return { 'application/json': { schema } };
}

/** What stands on each line. */
export function linesContent(name: string): JsonObject {
  return { [LINES_TYPE]: { schema: schemaRef(name) } };
}

export function listOf(name: string): JsonObject {
  return { type: 'array', items: schemaRef(name) };
}

/** The failures that an operation is answered with, by status; texts and statuses come from the catalogue. */
export function failures(...codes: readonly FailureCode[]): JsonObject {
  const statuses = [...new Set(codes.map((code) => CATALOGUE[code].status))].toSorted((a, b) => a - b);
  return Object.fromEntries(
    statuses.map((status) => [
      String(status),
      failureResponse(codes.filter((code) => CATALOGUE[code].status === status)),
    ]),
  );
}

export function failureResponse(codes: readonly FailureCode[]): JsonObject {
  return {
    description: codes.map((code) => `\`${code}\`: ${CATALOGUE[code].text}`).join(' '),
    headers: headerRefs(codes.flatMap((code) => FAILURE_HEADERS[code] ?? [])),
    content: jsonContent({ allOf: [schemaRef('Failure'), { properties: { code: { enum: codes } } }] }),
  };
}

function headerRefs(names: readonly string[]): JsonObject {
  return {
    ...REQUEST_ID,
    ...Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }])),
  };
}
