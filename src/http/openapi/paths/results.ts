import { MAX_DISTANCE } from '../../../storage/result-store.ts';
import { DEFAULT_DISTANCE, DEFAULT_LIMIT } from '../../schemas/queries.ts';
import { MAX_URL_CHARACTERS } from '../../schemas/requests.ts';
import { type JsonObject, schemaRef } from '../components.ts';
import { failures, jsonContent, response } from '../responses.ts';
import { CURSOR_PARAMETER, DATABASE_FAILURES, EVERYWHERE, ID_PARAMETER, limitParameter } from './shared.ts';

/** What is kept of captures. */
export const RESULT_PATHS: JsonObject = {
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
};

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
        schema: { type: 'integer', minimum: 0, maximum: MAX_DISTANCE, default: DEFAULT_DISTANCE },
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
