import { z } from 'zod';
import { InFlightSchema } from '../../capture/operation/in-flight.ts';
import { CaptureLimitsSchema } from '../../capture/operation/limits.ts';
import { PressureSchema } from '../../capture/operation/pressure.ts';
import { ServiceStatsSchema } from '../../capture/operation/stats.ts';
import { describedRequest, type RequestLimits, requestSchemas } from '../../capture/request.ts';
import { EvidenceSchema } from '../../capture/result/evidence.ts';
import {
  BatchLineSchema,
  BatchResultSchema,
  DetailedResultSchema,
  FailureSchema,
  JobSchema,
  ProbeSchema,
  ResultSchema,
  ScreenshotInfoSchema,
  SessionSchema,
  SimilarResultSchema,
} from '../answer/schemas.ts';
import type { Route } from '../route.ts';
import type { Media } from './content.ts';
import { type JsonObject, schemaRef } from './json-object.ts';

/** Shared schemas of answers, by name. Envelopes and request bodies are named by their routes. */
const NOUNS = {
  Result: ResultSchema,
  DetailedResult: DetailedResultSchema,
  SimilarResult: SimilarResultSchema,
  Evidence: EvidenceSchema,
  ScreenshotInfo: ScreenshotInfoSchema,
  BatchResult: BatchResultSchema,
  BatchLine: BatchLineSchema,
  InFlight: InFlightSchema,
  Job: JobSchema,
  ServiceStats: ServiceStatsSchema,
  Pressure: PressureSchema,
  CaptureLimits: CaptureLimitsSchema,
  Probe: ProbeSchema,
  Session: SessionSchema,
  Failure: FailureSchema,
} satisfies Readonly<Record<string, z.ZodType>>;

/** Returns the schemas of the document, made from those that validate requests and, in the tests, answers. */
export function componentSchemas(routes: readonly Route[], limits: RequestLimits): JsonObject {
  const requests = requestSchemas(limits);
  const media = routes.flatMap(({ answers }) =>
    Object.values(answers).flatMap(({ content }) => Object.values(content)),
  );
  const bodies = jsonSchemas(
    'input',
    routes.flatMap(({ body }) => (body === undefined ? [] : [[body.name, body.schema(requests)] as const])),
  );
  return {
    ...bodies,
    ScreenshotRequest: withGroups(Object(bodies.ScreenshotRequest), limits),
    WatchChange: { ...Object(bodies.WatchChange), ...changeOf(Object(bodies.WatchRequest)) },
    ...jsonSchemas('output', [
      ...Object.entries(NOUNS),
      ...media.flatMap((each) => ('name' in each ? [[each.name, each.schema] as const] : [])),
    ]),
  };
}

/** Adds what the schema cannot say: each option's group, for the layout of forms, and that it takes a URL or HTML. */
function withGroups(schema: JsonObject, limits: RequestLimits): JsonObject {
  const properties: Record<string, unknown> = { ...Object(schema.properties) };
  for (const [group, fields] of Object.entries(describedRequest(limits))) {
    for (const name of Object.keys(fields)) properties[name] = { ...Object(properties[name]), 'x-group': group };
  }
  return { ...schema, properties, oneOf: [{ required: ['url'] }, { required: ['html'] }] };
}

/** Returns the schema of a PATCH body: every field is optional, and null removes an optional one. */
function changeOf({ properties, required }: JsonObject): JsonObject {
  const fields = Object.entries(Object(properties)).map(([name, field]) => {
    const { default: _default, ...given } = Object(field);
    return [name, Object(required).includes(name) ? given : { anyOf: [given, { type: 'null' }] }];
  });
  return { properties: Object.fromEntries(fields), additionalProperties: false };
}

/** Returns the JSON Schema of a body. */
export function mediaSchema(media: Media): JsonObject {
  if ('text' in media) return media.text;
  return media.name === undefined ? nounRef(media.schema) : schemaRef(media.name);
}

/** Returns a reference to a shared schema, or the schema of a list whose elements refer to one. */
function nounRef(schema: z.core.$ZodType): JsonObject {
  if (schema instanceof z.ZodArray) return { type: 'array', items: nounRef(schema.element) };
  const [name] = Object.entries(NOUNS).find(([, noun]) => noun === schema) ?? [];
  if (name === undefined)
    throw new Error('a body without an envelope must be a schema with a name of its own, or a list of such');
  return schemaRef(name);
}

function jsonSchemas(
  io: 'input' | 'output',
  schemas: Iterable<readonly [name: string, schema: z.ZodType]>,
): JsonObject {
  const registry = z.registry<{ id: string }>();
  for (const [id, schema] of new Map(schemas)) registry.add(schema, { id });
  const made = z.toJSONSchema(registry, {
    io,
    uri: (id) => `#/components/schemas/${id}`,
    // Zod omits them for fields with a transformation.
    override: ({ zodSchema, jsonSchema }) => {
      const { examples, default: written } = z.globalRegistry.get(zodSchema) ?? {};
      if (Array.isArray(examples)) jsonSchema.examples = examples;
      if (written !== undefined) jsonSchema.default = written;
    },
  }).schemas;
  return Object.fromEntries(
    Object.entries(made).map(([id, { $schema: _dialect, $id: _uri, ...schema }]) => [id, schema]),
  );
}
