import { before } from './before.ts';
import { bothRoles } from './cluster/both-roles.ts';
import { dispatchCost } from './cluster/dispatch-cost.ts';
import { saveMeasured } from './cluster/measured.ts';
import { HOLD_MS, scaling } from './cluster/scaling.ts';
import type { BenchOptions } from './support/bench.ts';
import type { Finding } from './support/table.ts';

/**
 * A cluster compared with one process: throughput by number of workers, cost of the way through NATS, and throughput of
 * one process with both roles; with `--before <folder>` also that of one process without a cluster, relative to another
 * checkout. `--save` keeps the figures for `simulate`. Needs NATS and MongoDB.
 */
export async function cluster(options: BenchOptions): Promise<readonly Finding[]> {
  const dispatched = await clusterDispatch(options);
  const roles = await clusterRoles(options);
  const scaled = await clusterScaling(options);
  const compared = options.checkout === undefined ? [] : await before(options);
  return [...scaled, ...dispatched, ...roles, ...compared];
}

export async function clusterScaling(options: BenchOptions): Promise<readonly Finding[]> {
  const { perSecond, aloneMs, findings } = await scaling(options);
  if (options.save) saveMeasured({ holdMs: HOLD_MS, perSecond, aloneMs });
  return findings;
}

export async function clusterDispatch(options: BenchOptions): Promise<readonly Finding[]> {
  const { addedMs, turnaroundMs, busyCpuMs, natsVersion, findings } = await dispatchCost(options);
  if (options.save) saveMeasured({ addedMs, turnaroundMs, busyCpuMs, nats: natsVersion });
  return findings;
}

export async function clusterRoles(options: BenchOptions): Promise<readonly Finding[]> {
  const { cpuSecondsPerCapture, findings } = await bothRoles(options);
  if (options.save) saveMeasured({ captureCpuMs: cpuSecondsPerCapture * 1000 });
  return findings;
}
