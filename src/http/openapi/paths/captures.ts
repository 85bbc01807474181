import { CAPTURE_FORMATS } from '../../../capture/request.ts';
import { mediaTypeOf } from '../../artifact-answer.ts';
import { DEFAULT_LIMIT, VIEWS } from '../../schemas/queries.ts';
import { type JsonObject, schemaRef } from '../components.ts';
import { failures, jsonContent, linesContent, listOf, response } from '../responses.ts';
import {
  BODY_FAILURES,
  CAPTURE_FAILURES,
  CURSOR_PARAMETER,
  conditional,
  EVERYWHERE,
  ID_PARAMETER,
  IDEMPOTENCY_FAILURES,
  limitParameter,
} from './shared.ts';

const IMAGE_CONTENT = Object.fromEntries(
  CAPTURE_FORMATS.map((format) => [mediaTypeOf(format), { schema: { type: 'string', format: 'binary' } }]),
);

const FILE_HEADERS = ['ETag', 'Cache-Control', 'Accept-Ranges', 'X-Capture-Id'];

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

/** Capturing, and what was captured. */
export const CAPTURE_PATHS: JsonObject = {
  '/screenshot': { post: postScreenshot() },
  '/batch': { post: postBatch() },
  '/screenshot/{id}': { get: getScreenshot(), delete: deleteScreenshot() },
  '/screenshots': { get: getScreenshots() },
};

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
