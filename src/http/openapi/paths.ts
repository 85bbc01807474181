import { CAPTURE_FORMATS } from '../../capture-request.ts';
import type { FailureCode } from '../../errors.ts';
import { MOST_DISTANCE } from '../../storage/result-store.ts';
import { mediaTypeOf } from '../artifact-answer.ts';
import { EVENT_GROUPS, EVENT_TYPES } from '../schemas/events.ts';
import { DEFAULT_DISTANCE, DEFAULT_LIMIT, MAX_LIMIT, VIEWS } from '../schemas/queries.ts';
import { MAX_URL_CHARACTERS } from '../schemas/requests.ts';
import { type JsonObject, schemaRef } from './components.ts';
import { failures, jsonContent, linesContent, listOf, response } from './responses.ts';

/** How a capture that was admitted, or was not, may end badly. */
const CAPTURE_FAILURES = [
  'target_forbidden',
  'queue_full',
  'not_a_page',
  'selector_not_found',
  'target_unreachable',
  'page_crashed',
  'browser_unavailable',
  'shutting_down',
  'capture_timeout',
  'storage_full',
] as const satisfies readonly FailureCode[];
const BODY_FAILURES = [
  'invalid_json',
  'invalid_request',
  'payload_too_large',
  'unsupported_media_type',
] as const satisfies readonly FailureCode[];
const IDEMPOTENCY_FAILURES = [
  'idempotency_in_flight',
  'idempotency_mismatch',
  'database_not_enabled',
  'database_unavailable',
] as const satisfies readonly FailureCode[];
const DATABASE_FAILURES = ['database_not_enabled', 'database_unavailable'] as const satisfies readonly FailureCode[];
const EVERYWHERE = ['unauthorized', 'internal'] as const satisfies readonly FailureCode[];

const IMAGE_CONTENT = Object.fromEntries(
  CAPTURE_FORMATS.map((format) => [mediaTypeOf(format), { schema: { type: 'string', format: 'binary' } }]),
);
const FILE_HEADERS = ['ETag', 'Cache-Control', 'Accept-Ranges', 'X-Capture-Id'];

const ID_PARAMETER = {
  name: 'id',
  in: 'path',
  required: true,
  description: "A capture's id, which is its result's id.",
  schema: { type: 'integer', minimum: 1 },
};
const IDEMPOTENCY_KEY = {
  name: 'Idempotency-Key',
  in: 'header',
  description:
    'Printable ASCII. The same key and body again, within 24 hours, are given the first answer. Not taken with a body of lines.',
  schema: { type: 'string', minLength: 1, maxLength: 255 },
};
const PREFER = {
  name: 'Prefer',
  in: 'header',
  description:
    '`respond-async`: the answer is 202 and names a job, which needs a database. Not applied to a body of lines.',
  schema: { type: 'string', examples: ['respond-async'] },
};
const ACCEPTED = response('Kept, and will be done.', jsonContent(schemaRef('JobEnvelope')), [
  'Location',
  'Preference-Applied',
  'Idempotent-Replayed',
]);
const JOB_PARAMETER = {
  name: 'id',
  in: 'path',
  required: true,
  description: "A job's id.",
  schema: { type: 'string' },
};
const CURSOR_PARAMETER = {
  name: 'cursor',
  in: 'query',
  description: 'Where the page begins: opaque, taken from `Link: rel="next"`.',
  schema: { type: 'string' },
};

function limitParameter(absent: string): JsonObject {
  return {
    name: 'limit',
    in: 'query',
    description: `Most records in the answer. Over ${MAX_LIMIT} is cut to ${MAX_LIMIT}; 0 or negative is ${DEFAULT_LIMIT}; absent: ${absent}.`,
    schema: { type: 'integer' },
  };
}

/** Every operation. HEAD is wherever GET is, and is added to each. */
export const PATHS: JsonObject = Object.fromEntries(
  Object.entries<JsonObject>({
    '/screenshot': { post: postScreenshot() },
    '/batch': { post: postBatch() },
    '/screenshot/{id}': { get: getScreenshot(), delete: deleteScreenshot() },
    '/screenshots': { get: getScreenshots() },
    '/jobs/{id}': { get: getJob(), delete: deleteJob() },
    '/results': {
      get: list('listResults', 'The newest results.', [limitParameter(String(DEFAULT_LIMIT)), CURSOR_PARAMETER]),
    },
    '/results/by-url': {
      get: list('listResultsByUrl', 'Every result of exactly one URL, newest first.', [
        {
          name: 'url',
          in: 'query',
          required: true,
          description: '`https://` is put before it when it has no scheme, as it is when it is captured.',
          schema: { type: 'string', minLength: 1, maxLength: MAX_URL_CHARACTERS },
        },
        limitParameter('all of them'),
        CURSOR_PARAMETER,
      ]),
    },
    '/results/by-host': {
      get: list('listResultsByHost', 'Results of hosts that start with a value, and of its subdomains, newest first.', [
        {
          name: 'host',
          in: 'query',
          required: true,
          description:
            '`example.com` gives `example.com`, `www.example.com` and `example.com.au`, not `notexample.com`. Literal; case does not matter; an internationalised name and its punycode are the same.',
          schema: { type: 'string', minLength: 1 },
        },
        limitParameter('all of them'),
        CURSOR_PARAMETER,
      ]),
    },
    '/results/similar/{id}': { get: getSimilar() },
    '/results/{id}': { get: getResult() },
    '/events': { get: getEvents() },
    '/livez': { get: probe('livez', 'The process turns.', []) },
    '/readyz': { get: probe('readyz', 'It takes work.', ['browser_unavailable', 'shutting_down']) },
    '/stats': {
      get: {
        operationId: 'stats',
        summary: 'Counts, queue, pool, uptime.',
        tags: ['operations'],
        responses: {
          200: response('What the service is doing.', jsonContent(schemaRef('StatsEnvelope'))),
          ...failures(...EVERYWHERE),
        },
      },
    },
    '/pressure': {
      get: {
        operationId: 'pressure',
        summary: 'How much there is to do, and whether more is taken.',
        tags: ['operations'],
        responses: {
          200: response('As of the last second.', jsonContent(schemaRef('PressureEnvelope'))),
          ...failures(...EVERYWHERE),
        },
      },
    },
    '/limits': {
      patch: {
        operationId: 'setLimits',
        summary: 'Sets limits while the service runs, until it ends.',
        description: 'Nothing that is waiting or running is lost or started again: above a lowered limit it runs dry.',
        tags: ['operations'],
        requestBody: { required: true, content: jsonContent(schemaRef('LimitsChange')) },
        responses: {
          200: response('The limits in force.', jsonContent(schemaRef('LimitsEnvelope'))),
          ...failures(...BODY_FAILURES, ...EVERYWHERE),
        },
      },
    },
    '/openapi.json': {
      get: {
        operationId: 'openapi',
        summary: 'This document.',
        tags: ['operations'],
        security: [],
        responses: { 200: response('This document.', jsonContent({ type: 'object' })), ...failures('internal') },
      },
    },
  }).map(([path, operations]) => [path, withHead(operations)]),
);

function postScreenshot(): JsonObject {
  return {
    operationId: 'capture',
    summary: 'Captures one page.',
    description:
      'It is stored before it is answered. When the client goes away the capture is cancelled. With `Accept: image/*`, or `application/pdf` for that format (and no `application/json` that is preferred to it), the answer is the image itself. A target that answers 404 or 500 is a capture that succeeded. A failed capture is a record too, and is in `data`.',
    tags: ['capture'],
    parameters: [IDEMPOTENCY_KEY, PREFER],
    requestBody: { required: true, content: jsonContent(schemaRef('ScreenshotRequest')) },
    responses: {
      200: response('Captured and stored.', { ...jsonContent(schemaRef('DetailedResultEnvelope')), ...IMAGE_CONTENT }, [
        'Location',
        'X-Capture-Id',
        'X-Capture-Cached',
        'ETag',
        'Cache-Control',
        'Idempotent-Replayed',
      ]),
      202: ACCEPTED,
      ...failures(...BODY_FAILURES, ...CAPTURE_FAILURES, ...IDEMPOTENCY_FAILURES, ...EVERYWHERE),
    },
  };
}

function postBatch(): JsonObject {
  return {
    operationId: 'captureBatch',
    summary: 'Captures many pages.',
    description:
      'One element for each request, in their order; one failure never fails the others. A bad element refuses the whole batch before anything runs.\n\nWith `Accept: application/x-ndjson` the answer is one BatchLine for each request, as soon as it is there. A body of `application/x-ndjson`, one ScreenshotRequest on each line, is worked off as it arrives and may be of any length; its sender is held back while all its captures are under way or its client does not take the answer. Blank lines are skipped; a bad line, or one over 256 KiB, is the failed item of its index and ends nothing. It is answered with lines, unless `Accept` prefers `application/json`: then at most as many as a BatchRequest may hold. A sender that sends nothing for 5 minutes while it is waited for is cut off. An answer of lines that is broken off ends with a Failure as its last line, and without the end of the HTTP body.',
    tags: ['capture'],
    parameters: [
      IDEMPOTENCY_KEY,
      PREFER,
      {
        name: 'concurrency',
        in: 'query',
        description: 'For a body of lines: as `concurrency` of a BatchRequest.',
        schema: { type: 'integer', minimum: 1 },
      },
      {
        name: 'callback',
        in: 'query',
        description: 'For a body of lines: as `callback` of a BatchRequest.',
        schema: { type: 'string', format: 'uri' },
      },
    ],
    requestBody: {
      required: true,
      content: { ...jsonContent(schemaRef('BatchRequest')), ...linesContent('ScreenshotRequest') },
    },
    responses: {
      200: response(
        'How each capture ended.',
        {
          ...jsonContent(listOf('BatchResult')),
          ...linesContent('BatchLine'),
        },
        ['Idempotent-Replayed'],
      ),
      202: ACCEPTED,
      ...failures(
        ...BODY_FAILURES,
        'target_forbidden',
        'request_timeout',
        ...IDEMPOTENCY_FAILURES,
        'queue_full',
        'shutting_down',
        ...EVERYWHERE,
      ),
    },
  };
}

function getScreenshot(): JsonObject {
  const html = { 'text/html': { schema: { type: 'string' } } };
  return {
    operationId: 'getScreenshot',
    summary: 'The image of a capture, its metadata, or the HTML copy.',
    description:
      'Without `view`: the metadata when `Accept` prefers `application/json` to the image, else the image. The HTML copy is inert.',
    tags: ['capture'],
    parameters: [
      ID_PARAMETER,
      { name: 'view', in: 'query', schema: { type: 'string', enum: VIEWS } },
      conditional('If-None-Match', 'ETags that the client has, or `*`.'),
      conditional('Range', 'One range of bytes. Several are answered with the whole file.'),
      conditional('If-Range', 'The ETag for which the Range holds.'),
    ],
    responses: {
      200: response(
        'The file, or the metadata.',
        { ...IMAGE_CONTENT, ...jsonContent(schemaRef('ScreenshotInfoEnvelope')), ...html },
        [...FILE_HEADERS, 'Content-Security-Policy'],
      ),
      206: response('The part that was asked for.', { ...IMAGE_CONTENT, ...html }, [...FILE_HEADERS, 'Content-Range']),
      304: response('The client has it already.', {}, ['ETag', 'Cache-Control']),
      ...failures('invalid_id', 'invalid_request', 'not_found', 'range_not_satisfiable', ...EVERYWHERE),
    },
  };
}

function deleteScreenshot(): JsonObject {
  return {
    operationId: 'deleteScreenshot',
    summary: 'Removes a capture: image, HTML copy and record.',
    description:
      'A capture that failed is a record alone, and is removed all the same. Who is reading its files reads them to their end. While the database is away nothing is removed; without a database the files are.',
    tags: ['capture'],
    parameters: [ID_PARAMETER],
    responses: {
      200: response('It is gone.', jsonContent(schemaRef('RemovedEnvelope'))),
      ...failures('invalid_id', 'not_found', 'database_unavailable', ...EVERYWHERE),
    },
  };
}

function getScreenshots(): JsonObject {
  return {
    operationId: 'listScreenshots',
    summary: 'The newest screenshots. Works without a database.',
    tags: ['capture'],
    parameters: [limitParameter(String(DEFAULT_LIMIT)), CURSOR_PARAMETER],
    responses: {
      200: response('Newest first.', jsonContent(listOf('ScreenshotInfo')), ['Link']),
      ...failures('invalid_request', ...EVERYWHERE),
    },
  };
}

function getJob(): JsonObject {
  return {
    operationId: 'getJob',
    summary: 'How far a job is, and what has come of it.',
    description:
      'A page of the outcomes, or with `Accept: application/x-ndjson` all that are there, one on each line. A finished job is forgotten after 24 hours, or sooner when there are more than 1000.',
    tags: ['capture'],
    parameters: [JOB_PARAMETER, limitParameter(String(DEFAULT_LIMIT)), CURSOR_PARAMETER],
    responses: {
      200: response('The job.', { ...jsonContent(schemaRef('JobEnvelope')), ...linesContent('BatchLine') }, ['Link']),
      ...failures('invalid_request', 'not_found', ...DATABASE_FAILURES, ...EVERYWHERE),
    },
  };
}

function deleteJob(): JsonObject {
  return {
    operationId: 'cancelJob',
    summary: 'Cancels a job.',
    description: 'What has come of it stays. A job that had ended is left as it is.',
    tags: ['capture'],
    parameters: [JOB_PARAMETER],
    responses: {
      200: response('The job, cancelled or ended.', jsonContent(schemaRef('JobEnvelope'))),
      ...failures('not_found', ...DATABASE_FAILURES, ...EVERYWHERE),
    },
  };
}

function list(operationId: string, summary: string, parameters: readonly JsonObject[]): JsonObject {
  return {
    operationId,
    summary,
    tags: ['results'],
    parameters,
    responses: {
      200: response('Newest first by `probed_at`.', jsonContent(schemaRef('ResultListEnvelope')), ['Link']),
      ...failures('invalid_request', ...DATABASE_FAILURES, ...EVERYWHERE),
    },
  };
}

function getSimilar(): JsonObject {
  return {
    operationId: 'listSimilarResults',
    summary: 'Results whose picture looks like that of another one.',
    description:
      'Those whose `perception_hash` differs in few bits, the result itself left out. Only captures with `evidence: ["perception_hash"]` have one.',
    tags: ['results'],
    parameters: [
      ID_PARAMETER,
      {
        name: 'distance',
        in: 'query',
        description: 'Bits that may differ, of 64.',
        schema: { type: 'integer', minimum: 0, maximum: MOST_DISTANCE, default: DEFAULT_DISTANCE },
      },
      limitParameter(String(DEFAULT_LIMIT)),
    ],
    responses: {
      200: response('Nearest first, then newest.', jsonContent(schemaRef('SimilarResultListEnvelope'))),
      ...failures('invalid_id', 'invalid_request', 'not_found', ...DATABASE_FAILURES, ...EVERYWHERE),
    },
  };
}

function getResult(): JsonObject {
  return {
    operationId: 'getResult',
    summary: 'One result, with its evidence.',
    tags: ['results'],
    parameters: [ID_PARAMETER],
    responses: {
      200: response('The result.', jsonContent(schemaRef('DetailedResultEnvelope'))),
      ...failures('invalid_id', 'not_found', ...DATABASE_FAILURES, ...EVERYWHERE),
    },
  };
}

function getEvents(): JsonObject {
  const text = (name: string, description: string) => ({
    name,
    in: 'query',
    description,
    schema: { type: 'string', minLength: 1 },
  });
  const lastEventId = { type: 'integer', minimum: 0 };
  return {
    operationId: 'subscribe',
    summary: 'What happens, as it happens.',
    description:
      'Server-Sent Events. Each has an `id` that grows, its type as `event`, and as `data` a JSON object with `v` (1), `type` and `at`, besides what its type has: `capture.stored` the `result`, failures the `failure`. Who comes back with `Last-Event-ID` gets what it missed from a bounded log, and then what happens. Where something is missing stands an event `gap` (`reason`: `too_old`, `not_written`, `ended_abruptly`, `unknown_id`; `text` for people), whatever the filter. All filters that are given must hold. A comment comes every 15 s. Who does not read is disconnected, and may come back.',
    tags: ['operations'],
    parameters: [
      {
        name: 'type',
        in: 'query',
        description: 'Types or groups of them; a list with commas, or several parameters.',
        explode: false,
        schema: { type: 'array', items: { type: 'string', enum: [...EVENT_TYPES, ...EVENT_GROUPS] } },
      },
      text('host', 'Events of captures whose host starts with the value or is a subdomain of it, as by-host has it.'),
      text('batch', 'Events of one batch and of its captures.'),
      {
        name: 'lastEventId',
        in: 'query',
        description: 'The same as the header, which is preferred to it; 0 is the beginning of the log.',
        schema: lastEventId,
      },
      {
        name: 'Last-Event-ID',
        in: 'header',
        description: 'The id of the last event that was seen.',
        schema: lastEventId,
      },
    ],
    responses: {
      200: response('The events, until one side ends the connection.', {
        'text/event-stream': { schema: { type: 'string' } },
      }),
      ...failures('invalid_request', 'shutting_down', ...EVERYWHERE),
    },
  };
}

function probe(operationId: string, summary: string, codes: readonly FailureCode[]): JsonObject {
  return {
    operationId,
    summary,
    tags: ['operations'],
    security: [],
    responses: {
      200: response(summary, jsonContent(schemaRef('ProbeEnvelope'))),
      ...failures(...codes, 'internal'),
    },
  };
}

function conditional(name: string, description: string): JsonObject {
  return { name, in: 'header', description, schema: { type: 'string' } };
}

function withHead(operations: JsonObject): JsonObject {
  const { get } = operations;
  if (!isJsonObject(get)) return operations;
  const responses = isJsonObject(get.responses) ? get.responses : {};
  return {
    ...operations,
    head: {
      ...get,
      operationId: `${String(get.operationId)}Head`,
      summary: 'The same without the body.',
      responses: Object.fromEntries(
        Object.entries(responses).map(([status, value]) => [status, withoutContent(value)]),
      ),
    },
  };
}

function withoutContent(value: unknown): unknown {
  if (!isJsonObject(value)) return value;
  const { content: _content, ...rest } = value;
  return rest;
}

function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
