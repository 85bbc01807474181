import type { JsonObject } from './components.ts';
import { CAPTURE_PATHS } from './paths/captures.ts';
import { EVENT_PATHS } from './paths/events.ts';
import { JOB_PATHS } from './paths/jobs.ts';
import { OPERATION_PATHS } from './paths/operations.ts';
import { RESULT_PATHS } from './paths/results.ts';

/** Every operation. HEAD is wherever GET is, and is added to each. */
export const PATHS: JsonObject = Object.fromEntries(
  Object.entries<unknown>({
    ...CAPTURE_PATHS,
    ...JOB_PATHS,
    ...RESULT_PATHS,
    ...EVENT_PATHS,
    ...OPERATION_PATHS,
  }).map(([path, operations]) => [path, isJsonObject(operations) ? withHead(operations) : operations]),
);

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
