import { DEFAULT_LIMIT } from '../../schemas/queries.ts';
import { type JsonObject, schemaRef } from '../components.ts';
import { failures, jsonContent, linesContent, response } from '../responses.ts';
import { CURSOR_PARAMETER, DATABASE_FAILURES, EVERYWHERE, limitParameter } from './shared.ts';

const JOB_PARAMETER = {
  name: 'id',
  in: 'path',
  required: true,
  description: "A job's id.",
  schema: { type: 'string' },
};

/** Work that nobody waits for. */
export const JOB_PATHS: JsonObject = {
  '/jobs/{id}': { get: getJob(), delete: deleteJob() },
};

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
