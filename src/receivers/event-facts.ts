import { z } from 'zod';

/* The facts of events, as subscribers receive them, for messages and notices. Facts that an event lacks are empty. */

const text = z.string().catch('');
const whole = z.number().nullable().catch(null);
export const EventFacts = z.object({
  type: z.string(),
  at: text,
  url: text,
  id: whole,
  watch: whole,
  batch: z.string().nullable().catch(null),
  labels: z.array(z.string()).catch([]),
  size: whole,
  done: whole,
  failed: whole,
  by: text,
  accepting: z.boolean().catch(true),
  degraded: z.array(z.string()).catch([]),
  reason: text,
  receiver: text,
  api_key_name: z.string().nullable().catch(null),
  failure: z.object({ reason: text }).nullable().catch(null),
  result: z.object({ title: text, artifacts: z.unknown() }).nullable().catch(null),
  run: z
    .object({
      capture: whole,
      before: whole,
      changed: z.array(z.string()).catch([]),
      share: whole,
      regions: z.array(z.unknown()).catch([]),
      verdict: z.string().nullable().catch(null),
      reason: z.string().nullable().catch(null),
    })
    .nullable()
    .catch(null),
});
export type EventFacts = z.output<typeof EventFacts>;
export type RunFacts = NonNullable<EventFacts['run']>;
