import {
  catchError,
  defer,
  finalize,
  map,
  Observable,
  of,
  Subject,
  share,
  switchMap,
  takeUntil,
  tap,
  throwIfEmpty,
} from 'rxjs';
import { ANY_CLIENT, type Client, visibleKey } from '../capture/client.ts';
import type { CaptureOutcome, StoredCapture } from '../capture/outcome.ts';
import type { CaptureRequest } from '../capture/request.ts';
import type { Submit, SubmitOptions } from './capture-pipeline.ts';
import { captureReused, type EventStream } from './events.ts';

/** Maximum number of requests that a request joins, one after the other, before it is submitted on its own. */
const MAX_JOINS = 2;

interface ReuseOptions {
  /** Captures the page. */
  readonly capture: Submit;
  /**
   * Finds the newest stored capture of the request's URL and options within this age that the client may see; never
   * rejects. `ofKey` as `visibleKey` returns it.
   */
  readonly find: (
    request: CaptureRequest,
    maxAgeMs: number,
    ofKey: string | undefined,
  ) => Promise<StoredCapture | undefined>;
  /** Returns a key that is equal for requests that one capture can answer. */
  readonly keyOf: (request: CaptureRequest) => string;
  readonly events: Pick<EventStream, 'conclude'>;
}

/** A running request that others may join. */
interface RunningRequest {
  /** Completes without an outcome when the first request leaves before its capture is admitted. */
  readonly outcome$: Observable<CaptureOutcome>;
  /** Maximum age of the stored capture it looks for, in milliseconds. */
  readonly maxAgeMs: number;
  /**
   * True when the store had no such capture: the page is being captured now, so the result is fresh enough for every
   * caller.
   */
  captures: boolean;
  /** Whether the capture is admitted. An admitted capture continues when the first request leaves. */
  isAdmitted: boolean;
}

/**
 * Answers a request with `cacheMaxAgeMs` by joining an equal request in progress, else from the store when it has a
 * capture that is young enough. A joined request takes no slot, costs nothing and emits `capture.reused`; the capture
 * is cancelled when the last request unsubscribes. When the first request is refused, or leaves before its capture is
 * admitted, the joined ones are submitted again, each for its own client and in its own place.
 */
export function reusing(options: ReuseOptions): Submit {
  const { capture, find, keyOf, events } = options;
  const requests = new Map<string, RunningRequest>();
  const forget = (key: string, running: RunningRequest): void => {
    if (requests.get(key) === running) requests.delete(key);
  };

  const tell = (request: CaptureRequest, { batch = null, apiKeyName = null, requestId }: SubmitOptions) =>
    tap((outcome: CaptureOutcome) => {
      if (outcome.state === 'stored' && outcome.result.cached) {
        const asked = { request, batch, apiKeyName, requestId: requestId ?? null };
        events.conclude(captureReused(Date.now(), asked, outcome), { callback: request.callback });
      }
    });

  const answer = (request: CaptureRequest, options: SubmitOptions, joins: number): Observable<CaptureOutcome> => {
    const { cacheMaxAgeMs, callback } = request;
    return new Observable<CaptureOutcome>((subscriber) => {
      // A client that sees only its own captures must not be answered with that of another one.
      const key = JSON.stringify([keyOfClient(options), keyOf(request)]);
      const earlier = requests.get(key);
      const isYoungEnough = earlier?.captures === true || (earlier?.maxAgeMs ?? Infinity) <= cacheMaxAgeMs;
      // A request with a callback does not join, because the callback reports the end of that request's own capture.
      if (earlier !== undefined && isYoungEnough && callback === undefined && joins > 0) {
        const again = (): Observable<CaptureOutcome> => {
          forget(key, earlier);
          return answer(request, options, joins - 1);
        };
        const joined$ = earlier.outcome$.pipe(map(asReused), tell(request, options));
        // `outcome$` errors when the first request is refused, and has no outcome when it left too early.
        return joined$.pipe(throwIfEmpty(), catchError(again)).subscribe(subscriber);
      }
      const firstLeft$ = new Subject<void>();
      const onAdmitted = (): void => {
        running.isAdmitted = true;
      };
      const outcome$ = defer(() => find(request, cacheMaxAgeMs, keyOfClient(options))).pipe(
        switchMap((found) => {
          running.captures = found === undefined;
          return found === undefined ? capture(request, { ...options, onAdmitted }) : of(asReused(found));
        }),
        tap(() => firstLeft$.complete()),
        takeUntil(firstLeft$),
        finalize(() => forget(key, running)),
        share(),
      );
      const running: RunningRequest = { outcome$, maxAgeMs: cacheMaxAgeMs, captures: false, isAdmitted: false };
      requests.set(key, running);
      const first = outcome$.pipe(tell(request, options)).subscribe(subscriber);
      return () => {
        first.unsubscribe();
        if (!running.isAdmitted) firstLeft$.next();
      };
    });
  };

  return (request, options = {}) => answer(request, options, MAX_JOINS);
}

function keyOfClient(client: Partial<Client>): string | undefined {
  return visibleKey({ ...ANY_CLIENT, ...client });
}

function asReused<O extends CaptureOutcome>(outcome: O): O {
  return outcome.state === 'stored' ? { ...outcome, result: { ...outcome.result, cached: true } } : outcome;
}
