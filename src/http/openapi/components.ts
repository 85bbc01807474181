import { z } from 'zod';
import {
  BatchLineSchema,
  BatchResultSchema,
  DetailedResultSchema,
  FailureSchema,
  JobSchema,
  ProbeSchema,
  RemovedSchema,
  ResultSchema,
  ScreenshotInfoSchema,
  ServiceStatsSchema,
  SimilarResultSchema,
  successSchema,
} from '../schemas/answers.ts';
import { EvidenceSchema } from '../schemas/evidence.ts';
import { CaptureLimitsSchema, LimitsChangeSchema, PressureSchema } from '../schemas/limits.ts';
import { type RequestLimits, requestSchemas } from '../schemas/requests.ts';

export type JsonObject = { readonly [key: string]: unknown };

/** `#/components/schemas/` + the name. */
export function schemaRef(name: string): JsonObject {
  return { $ref: `#/components/schemas/${name}` };
}

/** The schemas of the document, made from those that validate requests and that the tests hold answers against. */
export function componentSchemas(limits: RequestLimits): JsonObject {
  const requests = requestSchemas(limits);
  return {
    ...jsonSchemas('input', {
      ScreenshotRequest: requests.screenshot,
      BatchRequest: requests.batch,
      LimitsChange: LimitsChangeSchema,
    }),
    ...jsonSchemas('output', {
      Result: ResultSchema,
      DetailedResult: DetailedResultSchema,
      SimilarResult: SimilarResultSchema,
      Evidence: EvidenceSchema,
      ScreenshotInfo: ScreenshotInfoSchema,
      BatchResult: BatchResultSchema,
      BatchLine: BatchLineSchema,
      Job: JobSchema,
      ServiceStats: ServiceStatsSchema,
      Pressure: PressureSchema,
      CaptureLimits: CaptureLimitsSchema,
      Probe: ProbeSchema,
      Failure: FailureSchema,
      DetailedResultEnvelope: successSchema(DetailedResultSchema),
      SimilarResultListEnvelope: successSchema(z.array(SimilarResultSchema)),
      ResultListEnvelope: successSchema(z.array(ResultSchema)),
      ScreenshotInfoEnvelope: successSchema(ScreenshotInfoSchema),
      RemovedEnvelope: successSchema(RemovedSchema),
      StatsEnvelope: successSchema(ServiceStatsSchema),
      PressureEnvelope: successSchema(PressureSchema),
      LimitsEnvelope: successSchema(CaptureLimitsSchema),
      JobEnvelope: successSchema(JobSchema),
      ProbeEnvelope: successSchema(ProbeSchema),
    }),
  };
}

function jsonSchemas(io: 'input' | 'output', schemas: Readonly<Record<string, z.ZodType>>): JsonObject {
  const registry = z.registry<{ id: string }>();
  for (const [id, schema] of Object.entries(schemas)) registry.add(schema, { id });
  const made = z.toJSONSchema(registry, {
    io,
    uri: (id) => `#/components/schemas/${id}`,
    // Zod leaves them out where a field is read as something else; ours are of what is written.
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
