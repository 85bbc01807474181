import { z } from 'zod';
import { LINES_TYPES } from '../lines/streamed-body.ts';
import { IdempotencyKeyHeader } from '../middleware/idempotency.ts';
import { isPathParameter, type Route } from '../route.ts';
import { mediaSchema } from './components.ts';
import type { Content } from './content.ts';
import { failuresOf } from './failures.ts';
import { headerRefs } from './headers.ts';
import { type JsonObject, schemaRef } from './json-object.ts';

/** Answers by status. */
type Answers = Readonly<Record<string, JsonObject>>;

/** Returns the operations of the document, by path and method. Every GET also has a HEAD. */
export function pathsOf(routes: readonly Route[]): JsonObject {
  const paths: Record<string, JsonObject> = {};
  for (const route of routes) {
    const operation = operationOf(route);
    paths[route.path] = {
      ...paths[route.path],
      [route.method.toLowerCase()]: operation,
      ...(route.method === 'GET' ? { head: headOf(route, operation) } : {}),
    };
  }
  return paths;
}

function operationOf(route: Route): JsonObject & { readonly responses: Answers } {
  const { operationId, summary, description, tag, isOpen } = route;
  const parameters = [
    ...parametersOf(route.parameters, (name) => (isPathParameter(route, name) ? 'path' : 'query')),
    ...(route.isIdempotent ? parametersOf(IdempotencyKeyHeader, () => 'header') : []),
    ...(route.headers === undefined ? [] : parametersOf(route.headers, () => 'header')),
  ];
  return {
    operationId,
    summary,
    ...(description === undefined ? {} : { description }),
    tags: [tag],
    ...(isOpen ? { security: [] } : {}),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...bodyOf(route),
    responses: { ...answersOf(route), ...failuresOf(route) },
  };
}

function headOf({ operationId }: Route, get: ReturnType<typeof operationOf>): JsonObject {
  return {
    ...get,
    operationId: `${operationId}Head`,
    summary: 'The same without the body.',
    responses: Object.fromEntries(
      Object.entries(get.responses).map(([status, { content: _content, ...answer }]) => [status, answer]),
    ),
  };
}

function bodyOf({ body, lines }: Route): JsonObject {
  if (body === undefined) return {};
  const content = {
    'application/json': { schema: schemaRef(body.name) },
    ...Object.fromEntries(
      lines === undefined ? [] : (lines.types ?? LINES_TYPES).map((type) => [type, { schema: lineSchema(lines) }]),
    ),
  };
  return { requestBody: { required: true, content } };
}

function lineSchema({ name }: NonNullable<Route['lines']>): JsonObject {
  return name === null ? { type: 'string' } : schemaRef(name);
}

function answersOf({ answers }: Route): Answers {
  return Object.fromEntries(
    Object.entries(answers).map(([status, { description, content, headers = [] }]) => [
      status,
      { description, headers: headerRefs(headers), content: contentOf(content) },
    ]),
  );
}

function contentOf(content: Content): JsonObject {
  return Object.fromEntries(Object.entries(content).map(([type, media]) => [type, { schema: mediaSchema(media) }]));
}

/** Returns the parameters of a schema, with the type of the parsed value. */
function parametersOf(
  schema: z.ZodObject,
  place: (name: string) => 'path' | 'query' | 'header',
): readonly JsonObject[] {
  const { properties = {}, required = [] } = z.toJSONSchema(schema, { io: 'output', unrepresentable: 'any' });
  return Object.entries(properties).map(([name, property]) => {
    const { description, repeatable, ...value }: JsonObject = Object(property);
    const isRequired = required.includes(name);
    return {
      name,
      in: place(name),
      ...(isRequired ? { required: true } : {}),
      ...(description === undefined ? {} : { description }),
      // A list with commas. Several parameters with the same name are accepted too.
      ...(repeatable === true ? { explode: false } : {}),
      schema: value,
    };
  });
}
