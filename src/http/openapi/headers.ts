import type { JsonObject } from './json-object.ts';

/** The headers of answers, which the document's answers refer to by name. */
export const RESPONSE_HEADERS = {
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
} as const satisfies JsonObject;

export type HeaderName = keyof typeof RESPONSE_HEADERS;

/** References to headers, `X-Request-Id` among them: every answer has it. */
export function headerRefs(names: readonly HeaderName[]): JsonObject {
  const all: readonly HeaderName[] = ['X-Request-Id', ...names];
  return Object.fromEntries(all.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

function header(description: string, schema: JsonObject = { type: 'string' }): JsonObject {
  return { description, schema };
}
