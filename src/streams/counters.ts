import type { Observable, Subscription } from 'rxjs';
import type { CapstanEvent } from '../capture/events.ts';

/** Captures since the start. Invariant: `accepted = stored + failed + timed_out + cancelled + rejected + inside`. */
export interface CaptureCounts {
  /** Admitted. */
  readonly accepted: number;
  readonly stored: number;
  readonly failed: number;
  readonly timed_out: number;
  readonly cancelled: number;
  /** Admitted, and refused when their turn came (a forbidden target). */
  readonly rejected: number;
  /** Not admitted, because the queue was full, the service was stopping, or the URL itself was forbidden. */
  readonly refused: number;
  /** Answered with an earlier capture, without being admitted. */
  readonly reused: number;
  /** Queued or running now. */
  readonly inside: number;
}

export interface BatchCounts {
  readonly accepted: number;
  readonly completed: number;
}

/** Notifications of how captures and batches ended, since the start. */
export interface WebhookCounts {
  readonly delivered: number;
  readonly failed: number;
  /** Failed notifications that were dropped because a queue was full. */
  readonly dropped: number;
}

export interface Counters {
  readonly captures: CaptureCounts;
  readonly batches: BatchCounts;
  readonly webhooks: WebhookCounts;
  stop(): void;
}

/** Folds the event stream into counters. Subscribe before the first event. Getters return snapshots. */
export function createCounters(events$: Observable<CapstanEvent>): Counters {
  const captures = {
    accepted: 0,
    stored: 0,
    failed: 0,
    timed_out: 0,
    cancelled: 0,
    rejected: 0,
    refused: 0,
    reused: 0,
  };
  const batches = { accepted: 0, completed: 0 };
  const webhooks = { delivered: 0, failed: 0, dropped: 0 };
  // Ids, because `capture.rejected` is emitted for admitted captures and for those that were not admitted.
  const inside = new Set<number>();

  const count = (event: CapstanEvent): void => {
    switch (event.type) {
      case 'capture.queued':
        inside.add(event.id);
        captures.accepted += 1;
        break;
      case 'capture.stored':
      case 'capture.failed':
      case 'capture.timed_out':
      case 'capture.cancelled':
      case 'capture.rejected': {
        const exit = EXITS[event.type];
        captures[inside.delete(event.id) ? exit : 'refused'] += 1;
        break;
      }
      case 'capture.reused':
        captures.reused += 1;
        break;
      case 'batch.accepted':
        batches.accepted += 1;
        break;
      case 'batch.completed':
        batches.completed += 1;
        break;
      case 'webhook.delivered':
        webhooks.delivered += 1;
        break;
      case 'webhook.failed':
        webhooks.failed += 1;
        if (event.cause === 'dropped') webhooks.dropped += 1;
        break;
    }
  };
  const subscription: Subscription = events$.subscribe(count);

  return {
    get captures() {
      return { ...captures, inside: inside.size };
    },
    get batches() {
      return { ...batches };
    },
    get webhooks() {
      return { ...webhooks };
    },
    stop: () => subscription.unsubscribe(),
  };
}

const EXITS = {
  'capture.stored': 'stored',
  'capture.failed': 'failed',
  'capture.timed_out': 'timed_out',
  'capture.cancelled': 'cancelled',
  'capture.rejected': 'rejected',
} as const;
