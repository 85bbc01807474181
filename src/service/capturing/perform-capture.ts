import type { Actors } from '../../actors/actors.ts';
import type { CaptureCommand } from '../../capture/command.ts';
import type { Dialled, Unreached } from '../../capture/dialled.ts';
import { CapstanError, failure, tellsOf, toFailure } from '../../capture/errors.ts';
import type { CaptureOutcome } from '../../capture/outcome.ts';
import { hasNetwork } from '../../capture/request.ts';
import { failedResult, storedResult, type Timing } from '../../capture/result/build-result.ts';
import { type Evidence, NO_EVIDENCE } from '../../capture/result/evidence.ts';
import { packWords } from '../../capture/result/page-words.ts';
import type { Snapshot } from '../../capture/result/snapshot.ts';
import type { Egress } from '../../egress/egress.ts';
import { resolveInTime } from '../../egress/resolve-in-time.ts';
import type { CaptureStore } from '../../storage/captures/capture-store.ts';
import type { CapturedFiles } from '../../storage/ports/artifact-store.ts';
import { type FindingParts, findOut } from './find-out.ts';

export interface CaptureParts extends FindingParts {
  readonly egress: Pick<Egress, 'dial' | 'screen' | 'screenLiteral' | 'aliasesOf' | 'certificateOf'>;
  /** The browsers of this process, as `createActorPool` of `actors/` makes them. */
  readonly actors: Pick<Actors, 'capture'>;
  readonly captureStore: Pick<CaptureStore, 'keep' | 'pending'>;
}

/** `performWithBackstops` replaces this failure by the reason of the abort. */
const CANCELLED: CaptureOutcome = { state: 'cancelled', failure: failure('cancelled') };

/** Time limit for the certificate of a host without a page, in milliseconds. */
const MAX_CERTIFICATE_MS = 2_000;

/**
 * Whether the target may be dialled before the capture has a browser. Not dialled: given HTML, which may need no
 * network, and batch items that share a page, because its browser context may have cached the answer.
 */
export function mayBeDialled({ request, batch }: Pick<CaptureCommand, 'request' | 'batch'>): boolean {
  return request.html === undefined && hasNetwork(request) && !(request.isolation === 'batch' && batch !== null);
}

/**
 * Connects to the target of a capture. Resolves with the connection, or with the outcome of a capture whose target
 * cannot be reached: the one that its browser would have found.
 */
export async function dialCapture(command: CaptureCommand, parts: CaptureParts): Promise<Dialled | Unreached> {
  const { request, signal } = command;
  const timing = timingSince();
  try {
    return await parts.egress.dial(request, signal);
  } catch (error) {
    if (error instanceof CapstanError && error.code === 'target_forbidden')
      return { outcome: Promise.resolve({ state: 'rejected', failure: toFailure(error) }) };
    return { outcome: failedOutcome(command, error, timing(), NO_EVIDENCE, parts) };
  }
}

/**
 * Performs one capture, from the egress check to the store. Yields the outcome, and ends when its browser actor is free
 * for the next capture. The outcome `stored` means that the files and the record are stored. A cancelled capture is not
 * stored.
 */
export async function* performCapture(command: CaptureCommand, parts: CaptureParts): AsyncGenerator<CaptureOutcome> {
  const { request, signal, batch, dialled, onPhase } = command;
  // The deadline includes the time for the name lookup and the dial, but not the time in the queue.
  const timing = timingSince(dialled?.ms);
  const failed = async (error: unknown) => {
    const untilFailure = timing();
    return failedOutcome(command, await withCertificate(error, command, parts.egress), untilFailure, null, parts);
  };

  const forbidden = dialled === undefined ? await screenInTime(command, parts.egress).catch(failed) : null;
  if (forbidden !== null) {
    yield forbidden;
    return;
  }
  const returned = Promise.withResolvers<void>();
  const context = { batch, dialled, earlierMs: timing().durationMs, onPhase, onReturned: returned.resolve };
  // An exception would end the generator, and free the slot before the browser is free.
  yield await parts.actors
    .capture(request, signal, context)
    .then((snapshot) => storedOutcome(command, snapshot, timing, parts), failed)
    // The store may refuse the record of a failure, too.
    .catch(failed);
  await returned.promise;
}

async function storedOutcome(
  command: CaptureCommand,
  snapshot: Snapshot,
  timing: () => Timing,
  parts: CaptureParts,
): Promise<CaptureOutcome> {
  const { request, signal } = command;
  const findings = await findOut(command, snapshot, request.timeoutMs - timing().durationMs, parts);
  if (signal.aborted) return CANCELLED;
  const { evidence } = snapshot;
  const words = snapshot.words === null ? {} : { words: packWords(snapshot.words) };
  const record = { ...storedResult(command, snapshot, findings, timing()), evidence, ...words };
  return { state: 'stored', result: await parts.captureStore.keep(record, filesOf(snapshot)), evidence, ...words };
}

/**
 * Returns the outcome of a capture that failed. Stores the record of the failure, if it tells of the target.
 * `evidence`: used when the failure has none.
 */
async function failedOutcome(
  command: CaptureCommand,
  error: unknown,
  timing: Timing,
  evidence: Evidence | null,
  { captureStore, logger }: CaptureParts,
): Promise<CaptureOutcome> {
  const failed = CapstanError.from(error);
  if (failed.code === 'internal')
    logger.error({ capture_id: command.id, err: error }, 'a capture failed with an internal error');
  if (failed.code === 'cancelled' || command.signal.aborted) return CANCELLED;
  const state = failed.code === 'capture_timeout' ? 'timed_out' : 'failed';
  const result = tellsOfTarget(failed)
    ? await captureStore.keep({ ...failedResult(command, failed, timing), evidence: failed.evidence ?? evidence }, null)
    : null;
  return { state, failure: toFailure(failed), result };
}

/** Whether a failure is recorded: it tells of the target, or is a redirect to a forbidden one. */
function tellsOfTarget({ code, status }: CapstanError): boolean {
  return tellsOf('target', status) || code === 'target_forbidden';
}

/** Returns a function that returns the timing of a capture that begins now, `earlierMs` of which have passed before. */
function timingSince(earlierMs = 0): () => Timing {
  const startedAt = Date.now() - Math.round(earlierMs);
  const began = performance.now() - earlierMs;
  return () => ({ startedAt, durationMs: performance.now() - began });
}

/**
 * Returns the outcome of a capture whose target, or its proxy, must not be opened; null for others.
 * @throws `capture_timeout` when the name of the target, or of its proxy, is not resolved before the deadline.
 */
async function screenInTime(
  { request, signal }: CaptureCommand,
  egress: CaptureParts['egress'],
): Promise<CaptureOutcome | null> {
  const { target, proxy, html } = request;
  // Given HTML is fetched from nowhere, so its host is not looked up.
  const failure =
    html !== undefined && proxy === undefined
      ? egress.screenLiteral(target.parsed)
      : await resolveInTime(request, signal, (inTime) => egress.screen(target.parsed, inTime, proxy));
  return failure && { state: 'rejected', failure };
}

/** If `tls` is asked for and no page came, adds the certificate that the host sends. */
async function withCertificate(
  error: unknown,
  { request: { evidence = [], proxy, target }, signal }: CaptureCommand,
  egress: CaptureParts['egress'],
): Promise<unknown> {
  if (!(error instanceof CapstanError) || error.evidence?.tls !== null || !evidence.includes('tls')) return error;
  const url = URL.parse(error.fetchedUrl ?? target.url);
  if (url?.protocol !== 'https:' || proxy !== undefined || error.code === 'target_forbidden') return error;
  const tls = await egress.certificateOf(url, AbortSignal.any([signal, AbortSignal.timeout(MAX_CERTIFICATE_MS)]));
  return tls === null ? error : error.with({ evidence: { ...error.evidence, tls } });
}

/** Returns the files to store. */
function filesOf({ image, html, outputs, elements }: Snapshot): CapturedFiles {
  const made = Object.fromEntries(Object.entries(outputs).map(([kind, output]) => [kind, output?.content]));
  return { ...made, image, html, elements };
}
