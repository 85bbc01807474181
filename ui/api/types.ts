/* Types of the HTTP API, from the schemas that validate its answers. Types are erased, so no schema is bundled. */
import type { z } from 'zod';
import type { ComparisonSchema } from '../../src/capture/comparison/comparison.ts';
import type { StabilitySchema } from '../../src/capture/comparison/stability.ts';
import type { DeadLetterSchema, ReceiverSchema, ReceiverTestSchema } from '../../src/capture/work/receiver.ts';
import type { ListedWatch } from '../../src/capture/work/watch.ts';
import type {
  BatchLineSchema,
  DetailedResultSchema,
  JobSchema,
  ListedResultSchema,
  ScanSchema,
  SessionSchema,
  SimilarResultSchema,
} from '../../src/http/answer/schemas.ts';

export type Result = z.output<typeof ListedResultSchema>;
export type { Snippet } from '../../src/capture/finding/snippet.ts';
export type DetailedResult = z.output<typeof DetailedResultSchema>;
export type SimilarResult = z.output<typeof SimilarResultSchema>;
export type Comparison = z.output<typeof ComparisonSchema>;
export type BatchLine = z.output<typeof BatchLineSchema>;
export type Evidence = NonNullable<DetailedResult['evidence']>;
export type Session = z.output<typeof SessionSchema>;
export type Stability = z.output<typeof StabilitySchema>;
export type Watch = ListedWatch;
export type { WatchValues } from '../../src/capture/work/watch.ts';
/** A run without its regions, as lists have it. */
export type RecentRun = NonNullable<Watch['recent_runs']>[number];
export type Receiver = z.output<typeof ReceiverSchema>;
export type ReceiverTest = z.output<typeof ReceiverTestSchema>;
export type DeadLetter = z.output<typeof DeadLetterSchema>;
export type Job = z.output<typeof JobSchema>;
export type Scan = z.output<typeof ScanSchema>;
export type { Box } from '../../src/capture/comparison/comparison.ts';
export type { CapstanEvent, EventType } from '../../src/capture/events.ts';
export type { LoadSample } from '../../src/capture/operation/history.ts';
export type { InFlight } from '../../src/capture/operation/in-flight.ts';
export type { CaptureLimits } from '../../src/capture/operation/limits.ts';
export type { Pressure } from '../../src/capture/operation/pressure.ts';
export type { ServiceStats } from '../../src/capture/operation/stats.ts';
