import { readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';

/* The figures of `npm run bench -- cluster --save`, from which `npm run bench -- simulate` computes larger clusters. */

const FILE = join(import.meta.dirname, '../simulate/measured.json');

const ms = z.number().positive();

const MeasuredSchema = z.object({
  /** When and where it was measured. */
  date: z.iso.date(),
  machine: z.object({ processor: z.string(), cores: z.int().positive(), node: z.string(), nats: z.string() }),
  /** Time after which the captured pages answer. */
  holdMs: ms,
  /** Times of captures without a queue, from the request to the answer. */
  aloneMs: z.array(ms).min(1).readonly(),
  /** Captures per second by number of one-slot workers. */
  perSecond: z.record(z.string(), ms).readonly(),
  /** Time that the way through NATS adds to a capture. */
  addedMs: z.object({ p50: ms, p99: ms }),
  /** Time from the end of a capture that needs no time until its slot has the next one. */
  turnaroundMs: ms,
  /** CPU time of a capture at many captures at once. */
  busyCpuMs: z.object({ single: ms, api: ms, worker: ms, nats: ms }),
  /** CPU time of a capture of small, medium and heavy pages, browser included. */
  captureCpuMs: ms,
});
export type Measured = z.output<typeof MeasuredSchema>;

export function readMeasured(): Measured {
  return MeasuredSchema.parse(JSON.parse(readFileSync(FILE, 'utf8')));
}

/** Replaces figures in the file. */
export function saveMeasured(figures: Partial<Omit<Measured, 'date' | 'machine'>> & { readonly nats?: string }): void {
  const { nats, ...rest } = figures;
  const before = readMeasured();
  const rounded: unknown = JSON.parse(JSON.stringify(rest), (_, value: unknown) =>
    typeof value === 'number' ? Number(value.toFixed(4)) : value,
  );
  const measured = MeasuredSchema.parse({
    ...before,
    date: new Date().toISOString().slice(0, 10),
    machine: {
      processor: cpus()[0]?.model ?? 'unknown',
      cores: availableParallelism(),
      node: process.version,
      nats: nats ?? before.machine.nats,
    },
    ...z.record(z.string(), z.unknown()).parse(rounded),
  });
  writeFileSync(FILE, `${JSON.stringify(measured, null, 2)}\n`);
}
