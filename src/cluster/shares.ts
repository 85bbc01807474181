import type { CaptureLimits } from '../capture/operation/limits.ts';
import { capacityOf } from './work-queue.ts';

/** Tickets for each slot: one of a capture that runs, and one that follows it. */
const TICKETS_PER_SLOT = 2;
/** Slots that count while there is no worker: an autoscaler sees that workers are needed. */
const EXPECTED_SLOTS = 4;

/** Captures of an api node that are queued or running, or wait there for room in the queue. */
export interface NodeLoad {
  /** Captures that were requested on their own. */
  readonly singles: number;
  /** Items of batches and jobs. */
  readonly items: number;
}

/**
 * Returns the limits for the workers that are there: they run no more captures than they have slots. Without any worker
 * the limits of the cluster hold, because the first one may come at any time.
 */
export function limitsOfWorkers(limits: CaptureLimits, slots: number): CaptureLimits {
  return slots === 0 ? limits : { ...limits, maxConcurrent: Math.min(limits.maxConcurrent, slots) };
}

/**
 * Returns how many places an api node may have in use for single captures: all, minus those that the items of all
 * nodes need (at most half). `stored`: the number of places that the stream allows. Where the workers have fewer, the
 * stream does not refuse what exceeds them, so the captures of the other nodes are subtracted.
 */
export function shareOfSingles(
  limits: CaptureLimits,
  own: NodeLoad,
  others: readonly NodeLoad[],
  stored = capacityOf(limits),
): number {
  const capacity = capacityOf(limits);
  const items = others.reduce((sum, node) => sum + node.items, own.items);
  const singlesOfOthers = others.map((node) => node.singles);
  if (items === 0) return capacity < stored ? capacity - sumOf(singlesOfOthers) : capacity;
  return equalShareOf(capacity - Math.min(items, Math.floor(capacity / 2)), singlesOfOthers);
}

/**
 * Returns how many tickets an api node may have published, those of running captures included: as many as keep the
 * workers busy. Its other captures wait at the node, where keys take turns, so a later capture waits for few tickets.
 * `limits`, `slots`: those of the workers that are there.
 */
export function shareOfTickets(limits: CaptureLimits, slots: number, others: readonly NodeLoad[]): number {
  return equalShareOf(
    usefulTickets(limits, slots),
    others.map(({ singles, items }) => singles + items),
  );
}

/** Returns how many tickets keep the workers busy. */
export function usefulTickets({ maxConcurrent }: CaptureLimits, slots: number): number {
  return TICKETS_PER_SLOT * (slots === 0 ? Math.min(maxConcurrent, EXPECTED_SLOTS) : maxConcurrent);
}

/** Returns an equal share of the places, or those that the other nodes leave if that is more. */
function equalShareOf(places: number, others: readonly number[]): number {
  const sharing = 1 + others.filter((used) => used > 0).length;
  const left = places - sumOf(others);
  return Math.max(1, Math.floor(places / sharing), left);
}

function sumOf(counts: readonly number[]): number {
  return counts.reduce((sum, count) => sum + count, 0);
}
