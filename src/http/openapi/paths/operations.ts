import type { FailureCode } from '../../../capture/errors.ts';
import { type JsonObject, schemaRef } from '../components.ts';
import { failures, jsonContent, response } from '../responses.ts';
import { BODY_FAILURES, EVERYWHERE } from './shared.ts';

/** How the service does. */
export const OPERATION_PATHS: JsonObject = {
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
};

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
