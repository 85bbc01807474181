import { type Failure, toFailure } from '../../capture/errors.ts';
import { MAX_URL_CHARACTERS, type requestSchemas } from '../../capture/request.ts';
import { parseOrRefuse } from '../../capture/validate.ts';
import type { ItemRequest } from '../../service/capture-service.ts';
import { parseJson } from '../request/parse-json.ts';
import type { BodyLine } from './body-lines.ts';

/** Reads a line as an item of the batch. A bad line is an item with a failure. */
export function batchItem(line: BodyLine, schema: ReturnType<typeof requestSchemas>['screenshot']): ItemRequest {
  if ('failure' in line) return { url: '', failure: line.failure };
  let value: unknown;
  try {
    value = parseJson(line.text);
    return parseOrRefuse(schema, value);
  } catch (error) {
    return { url: namedUrl(value), failure: error instanceof SyntaxError ? notJson(error) : toFailure(error) };
  }
}

function notJson({ message }: SyntaxError): Failure {
  return { code: 'invalid_json', reason: `The line is not valid JSON: ${message}` };
}

/** Returns the URL that a bad line names, so that its item can be recognised. */
function namedUrl(value: unknown): string {
  const named = typeof value === 'object' && value !== null && 'url' in value ? value.url : undefined;
  return typeof named === 'string' ? named.slice(0, MAX_URL_CHARACTERS) : '';
}
