import type { CaptureLimits } from '../capture/limits.ts';
import { capacityOf } from './work-queue.ts';

/** Captures of an api node that are queued or running, or wait there for room in the queue. */
export interface NodeLoad {
  /** Captures that were requested on their own. */
  readonly singles: number;
  /** Elements of batches and jobs. */
  readonly elements: number;
}

/**
 * Returns how many places of the queue an api node may have in use for single captures: all, except as many as the
 * elements of all nodes need, which is at most half.
 */
export function shareOfSingles(limits: CaptureLimits, own: NodeLoad, others: readonly NodeLoad[]): number {
  const capacity = capacityOf(limits);
  const elements = others.reduce((sum, node) => sum + node.elements, own.elements);
  if (elements === 0) return capacity;
  const singles = capacity - Math.min(elements, Math.floor(capacity / 2));
  return shareOf(
    singles,
    others.map((node) => node.singles),
  );
}

/**
 * Returns how many places an api node may have in use for elements of batches: half of all, or more when half would not
 * keep every worker busy.
 */
export function shareOfElements(limits: CaptureLimits, others: readonly NodeLoad[]): number {
  const elements = Math.max(limits.maxConcurrent, Math.ceil(capacityOf(limits) / 2));
  return shareOf(
    elements,
    others.map((node) => node.elements),
  );
}

/** Returns an equal share of the places, or those that the other nodes leave if that is more. */
function shareOf(places: number, others: readonly number[]): number {
  const sharing = 1 + others.filter((used) => used > 0).length;
  const left = places - others.reduce((sum, used) => sum + used, 0);
  return Math.max(1, Math.floor(places / sharing), left);
}
