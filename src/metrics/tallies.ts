import type { Observable } from 'rxjs';
import type { BrowserEndCause, CapstanEvent, EventType, MessageFailureCause } from '../capture/events.ts';
import type { ServiceStats } from '../capture/operation/stats.ts';
import { CAPTURE_PHASES, type CapturePhase } from '../capture/phases.ts';
import type { Result } from '../capture/result/result.ts';
import type { VerdictName } from '../capture/result/verdict.ts';
import { DurationHistogram } from './duration-histogram.ts';

/** Numbers that are computed from events: counts since the start, and histograms of durations. */
export interface Tallies {
  readonly counts: EventCounts;
  readonly events: ReadonlyMap<EventType, number>;
  /** Number of `capture.rejected` events by error code. */
  readonly rejections: ReadonlyMap<string, number>;
  /** Number of `capture.failed` and `capture.timed_out` events by error code. */
  readonly failures: ReadonlyMap<string, number>;
  /** Number of stored captures by verdict. */
  readonly verdicts: ReadonlyMap<VerdictName, number>;
  readonly browserEnds: ReadonlyMap<BrowserEndCause, number>;
  readonly messageFailures: ReadonlyMap<MessageFailureCause, number>;
  readonly queueWait: DurationHistogram;
  /** Durations of captures by outcome. */
  readonly captures: ReadonlyMap<'stored' | 'failed' | 'timed_out', DurationHistogram>;
  readonly phases: ReadonlyMap<CapturePhase, DurationHistogram>;
  readonly messages: DurationHistogram;
}

/**
 * The counts that `GET /stats` reports. Invariant: `accepted = stored + failed + timed_out + cancelled + rejected +
 * inside`.
 */
export interface EventCounts {
  readonly captures: ServiceStats['captures'];
  readonly batches: ServiceStats['batches'];
  readonly messages: Omit<ServiceStats['messages'], 'pending'>;
}

/** Counts events from now on, in less than 1 µs per event and without loading the library that renders metrics. */
export function tallyEvents(events$: Observable<CapstanEvent>): Tallies {
  const tallies = {
    events: new Map<EventType, number>(),
    rejections: new Map<string, number>(),
    failures: new Map<string, number>(),
    verdicts: new Map<VerdictName, number>(),
    browserEnds: new Map<BrowserEndCause, number>(),
    messageFailures: new Map<MessageFailureCause, number>(),
    queueWait: new DurationHistogram(),
    captures: new Map<'stored' | 'failed' | 'timed_out', DurationHistogram>(),
    phases: new Map<CapturePhase, DurationHistogram>(),
    messages: new DurationHistogram(),
  } satisfies Omit<Tallies, 'counts'>;
  // Ids, because `capture.rejected` is emitted for admitted captures and for those that were not admitted.
  const inside = new Set<number>();
  let rejected = 0;

  const observeResult = (state: 'stored' | 'failed' | 'timed_out', result: Result | null): void => {
    if (result === null) return;
    histogramOf(tallies.captures, state).observe(result.duration_ms);
    for (const phase of CAPTURE_PHASES) {
      const ms = result.timings[phase];
      if (ms !== undefined) histogramOf(tallies.phases, phase).observe(ms);
    }
  };

  events$.subscribe((event) => {
    increase(tallies.events, event.type);
    switch (event.type) {
      case 'capture.queued':
        inside.add(event.id);
        break;
      case 'capture.started':
        tallies.queueWait.observe(event.waited_ms);
        break;
      case 'capture.stored':
        inside.delete(event.id);
        observeResult('stored', event.result);
        if (event.result.verdict !== null) increase(tallies.verdicts, event.result.verdict);
        break;
      case 'capture.failed':
        inside.delete(event.id);
        increase(tallies.failures, event.failure.code);
        observeResult('failed', event.result);
        break;
      case 'capture.timed_out':
        inside.delete(event.id);
        increase(tallies.failures, event.failure.code);
        observeResult('timed_out', event.result);
        break;
      case 'capture.cancelled':
        inside.delete(event.id);
        break;
      case 'capture.rejected':
        if (inside.delete(event.id)) rejected += 1;
        increase(tallies.rejections, event.failure.code);
        break;
      case 'browser.retired':
      case 'browser.crashed':
        increase(tallies.browserEnds, event.cause);
        break;
      case 'message.delivered':
        tallies.messages.observe(event.duration_ms);
        break;
      case 'message.failed':
        increase(tallies.messageFailures, event.cause);
        break;
      // Counted by type alone. Every type is named, so that a new one does not compile until this is decided.
      case 'capture.reused':
      case 'capture.marked':
      case 'capture.held':
      case 'capture.released':
      case 'batch.accepted':
      case 'batch.progress':
      case 'batch.completed':
      case 'browser.launched':
      case 'watch.run':
      case 'watch.changed':
      case 'watch.failed':
      case 'watch.recovered':
      case 'pressure.changed':
        break;
      default:
        event satisfies never;
    }
  });

  const of = (type: EventType): number => tallies.events.get(type) ?? 0;
  const counts: EventCounts = {
    get captures() {
      return {
        accepted: of('capture.queued'),
        stored: of('capture.stored'),
        failed: of('capture.failed'),
        timed_out: of('capture.timed_out'),
        cancelled: of('capture.cancelled'),
        rejected,
        refused: of('capture.rejected') - rejected,
        reused: of('capture.reused'),
        inside: inside.size,
      };
    },
    get batches() {
      return { accepted: of('batch.accepted'), completed: of('batch.completed') };
    },
    get messages() {
      const dropped = tallies.messageFailures.get('dropped') ?? 0;
      return { delivered: of('message.delivered'), failed: of('message.failed'), dropped };
    },
  };
  return { ...tallies, counts };
}

function increase<K>(counts: Map<K, number>, key: K): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

function histogramOf<K>(histograms: Map<K, DurationHistogram>, key: K): DurationHistogram {
  const known = histograms.get(key);
  if (known !== undefined) return known;
  const created = new DurationHistogram();
  histograms.set(key, created);
  return created;
}
