import type { JsonObject } from './json-object.ts';

/** Headers of answers, which the document refers to by name. */
export const RESPONSE_HEADERS = {
  'X-Request-Id': header("The request's id: the client's own when it sent a valid one."),
  'X-Capture-Id': header('The id of the capture that the body belongs to.'),
  'X-Capture-Truncated': header(
    'Why the image shows less than requested, as `truncated_by` of a result; missing when nothing is.',
  ),
  'X-Capture-Verdict': header('What the page turned out to be, as `verdict` of a result; missing without one.'),
  'X-Capture-Cached': header('`true`: the image is that of an earlier capture (`cacheMaxAgeMs`).'),
  'Mcp-Session-Id': header('In the answer to `initialize`: the client sends it with each later request.'),
  Location: header(
    'Path of the capture, `/screenshot/<id>`, of the job, `/jobs/<id>`, or of the standing query, `/queries/<id>`.',
  ),
  'Preference-Applied': header('`respond-async`.'),
  ETag: header('Strong; the same bytes have the same tag.'),
  'Last-Modified': header('When the newest entry was made.'),
  Link: header('`<path>; rel="next"`: the address of the next page, relative to this host. Absent on the last page.'),
  'Idempotent-Replayed': header('`true`: this is the first answer to this Idempotency-Key.'),
  'Retry-After': header('Seconds to wait before a retry.', { type: 'integer', minimum: 0 }),
  'X-RateLimit-Limit': header('Captures a minute that the API key may request.', { type: 'integer' }),
  'X-RateLimit-Remaining': header('Captures that it may still request in this minute.', { type: 'integer' }),
  'X-RateLimit-Reset': header('Seconds until the minute ends.', { type: 'integer' }),
  Allow: header('The methods that this path has.'),
  'WWW-Authenticate': header('`Bearer`.'),
  'Set-Cookie': header('`capstan_session_<port>`: `HttpOnly`, `SameSite=Strict`, `Secure` behind TLS.'),
  'Content-Range': header('The range that was sent and the size of the file.'),
  'Accept-Ranges': header('`bytes`.'),
  'Cache-Control': header('`private, max-age=31536000, immutable`; of shared links, `public` until they expire.'),
  'Content-Disposition': header('`attachment`, with a file name.'),
  'Content-Security-Policy': header('Sandboxes the page: no scripts, no requests.'),
} as const satisfies JsonObject;

export type HeaderName = keyof typeof RESPONSE_HEADERS;

/** Returns references to headers, including `X-Request-Id`, which every answer has. */
export function headerRefs(names: readonly HeaderName[]): JsonObject {
  const all: readonly HeaderName[] = ['X-Request-Id', ...names];
  return Object.fromEntries(all.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

function header(description: string, schema: JsonObject = { type: 'string' }): JsonObject {
  return { description, schema };
}
