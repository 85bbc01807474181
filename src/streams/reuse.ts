import { asyncScheduler, defer, finalize, map, Observable, of, type SchedulerLike, share, switchMap, tap } from 'rxjs';
import type { CaptureOutcome, CaptureRequest } from '../capture/domain.ts';
import type { CapturePipeline, SubmitOptions } from './capture-pipeline.ts';
import { captureReused, type EventStream } from './events.ts';

export type StoredOutcome = Extract<CaptureOutcome, { state: 'stored' }>;

export interface ReuseOptions {
  readonly submit: CapturePipeline['submit'];
  /** The newest stored capture of the request's URL and options that is at most so old; never rejects. */
  readonly find: (request: CaptureRequest, maxAgeMs: number) => Promise<StoredOutcome | undefined>;
  /** Equal for requests of which one capture can answer all. */
  readonly keyOf: (request: CaptureRequest) => string;
  readonly events: Pick<EventStream, 'conclude'>;
  readonly scheduler?: SchedulerLike;
}

/** A request that others may join. */
interface Flight {
  readonly outcome$: Observable<CaptureOutcome>;
  /** How old what it finds in the store may be. */
  readonly maxAgeMs: number;
  /** The store had nothing: its page is being captured, and too old for nobody. */
  captures: boolean;
}

/**
 * Answers a request that takes an earlier capture (`cacheMaxAgeMs`) with one: from the store when one is young enough,
 * else with that of an equal request that is under way, which it joins. Whoever joins costs nothing, waits for no slot
 * and is told so by `capture.reused`; the capture is cancelled when the last of them goes. Other requests pass.
 */
export function reusing(options: ReuseOptions): CapturePipeline['submit'] {
  const { submit, find, keyOf, events, scheduler = asyncScheduler } = options;
  const flights = new Map<string, Flight>();

  const tell = (request: CaptureRequest, batch: string | null) =>
    tap((outcome: CaptureOutcome) => {
      if (outcome.state === 'stored' && outcome.result.cached) {
        events.conclude(captureReused(scheduler.now(), request, batch, outcome.result), request.callback);
      }
    });

  const fromStoreOrPage = (request: CaptureRequest, maxAgeMs: number, under: SubmitOptions, key: string): Flight => {
    const outcome$ = defer(() => find(request, maxAgeMs)).pipe(
      switchMap((found) => {
        flight.captures = found === undefined;
        return found === undefined ? submit(request, under) : of(asReused(found));
      }),
      finalize(() => {
        if (flights.get(key) === flight) flights.delete(key);
      }),
      share(),
    );
    const flight: Flight = { outcome$, maxAgeMs, captures: false };
    return flight;
  };

  return (request, under = {}) => {
    const { cacheMaxAgeMs = 0, callback } = request;
    const { batch = null } = under;
    if (cacheMaxAgeMs === 0) return submit(request, under);
    return new Observable<CaptureOutcome>((subscriber) => {
      const key = keyOf(request);
      const underWay = flights.get(key);
      const isYoungEnough = underWay?.captures === true || (underWay?.maxAgeMs ?? Infinity) <= cacheMaxAgeMs;
      // Who has a callback is told how its own capture ends.
      if (underWay !== undefined && isYoungEnough && callback === undefined) {
        return underWay.outcome$.pipe(map(asReused), tell(request, batch)).subscribe(subscriber);
      }
      const flight = fromStoreOrPage(request, cacheMaxAgeMs, under, key);
      flights.set(key, flight);
      return flight.outcome$.pipe(tell(request, batch)).subscribe(subscriber);
    });
  };
}

function asReused<O extends CaptureOutcome>(outcome: O): O {
  return outcome.state === 'stored' ? { ...outcome, result: { ...outcome.result, cached: true } } : outcome;
}
