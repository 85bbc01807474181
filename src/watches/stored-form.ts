import type { Client } from '../capture/client.ts';
import { type RecordedOptions, recordedOptions } from '../capture/options/recorded-options.ts';
import { type CaptureRequest, requestSchemas, type WatchRequest } from '../capture/request.ts';
import { parseOrRefuse } from '../capture/validate.ts';
import type { WatchRun } from '../capture/work/watch.ts';
import { type KnownValues, NO_VALUES } from './decide.ts';

/** The body that a watch was made from, which `PATCH` changes. It is stored once, and its request is read from it. */
export type Written = Readonly<Record<string, unknown>>;

/** The facts of a watch that are read without its body. */
export interface Summary extends Pick<WatchRequest, 'rules' | 'callback' | 'notify'> {
  readonly url: string;
  readonly host: string;
  /** `every` as the client wrote it. */
  readonly every: string | null;
  /** `ignore` as the client wrote it. */
  readonly ignore: readonly string[];
  readonly options: RecordedOptions;
  /** Deadline of its captures when it was written: the default of the service may change. */
  readonly timeoutMs: number;
  /** The client that the captures are made for. */
  readonly by: Client;
  readonly createdAt: string;
  readonly isPaused: boolean;
}

/** Findings of the runs of a watch. */
export interface Progress {
  /** The capture that the next one is compared with. */
  readonly baseline: number | null;
  /** The newest capture that did not differ from it. It becomes the baseline when that was removed. */
  readonly latest: number | null;
  readonly runs: number;
  readonly changes: number;
  /** Failures in a row. */
  readonly failures: number;
  readonly values: KnownValues;
  readonly lastRun: WatchRun | null;
}

export const NO_PROGRESS: Progress = {
  baseline: null,
  latest: null,
  runs: 0,
  changes: 0,
  failures: 0,
  values: NO_VALUES,
  lastRun: null,
};

/** Returns the summary of a watch, and the body to store, of what was `written` and read as `wanted`. */
export function packWatch(
  written: Written,
  { request, rules, callback, notify }: WatchRequest,
  about: Pick<Summary, 'by' | 'createdAt' | 'isPaused'>,
): { readonly summary: string; readonly definition: string } {
  const { url, host } = request.target;
  const { every, ignore } = written;
  const summary = packSummary({
    url,
    host,
    every: typeof every === 'string' ? every : null,
    ignore: Array.isArray(ignore) ? ignore.map(String) : [],
    options: recordedOptions(request),
    timeoutMs: request.timeoutMs,
    rules,
    callback,
    notify,
    ...about,
  });
  return { summary, definition: JSON.stringify(written) };
}

export function packSummary(summary: Summary): string {
  return JSON.stringify(summary);
}

/** Reads a summary written by `packSummary`. */
export function unpackSummary(text: string): Summary {
  const summary: Summary = JSON.parse(text);
  return summary;
}

/** Reads a body written by `packWatch`. */
export function unpackWritten(definition: string): Written {
  const written: Written = JSON.parse(definition);
  return written;
}

/** Made with the first run, because it takes time. Callbacks and deadlines were checked when the body was written. */
let schema: ReturnType<typeof requestSchemas>['watch'] | undefined;

/**
 * Reads the request of a stored body.
 * @throws CapstanError with `invalid_request` when this version does not accept it any more.
 */
export function requestOf(definition: string, { timeoutMs }: Pick<Summary, 'timeoutMs'>): CaptureRequest {
  const limits = { maxBatch: 1, timeoutMs: 1, maxTimeoutMs: Number.MAX_SAFE_INTEGER, callbacks: true };
  schema ??= requestSchemas(limits).watch;
  return { ...parseOrRefuse(schema, unpackWritten(definition)).request, timeoutMs };
}

export function packProgress(progress: Progress): string {
  return JSON.stringify(progress);
}

/** Reads progress written by `packProgress`. */
export function unpackProgress(text: string): Progress {
  const progress: Progress = JSON.parse(text);
  return progress;
}

/** A run, and what was decided on its values, which is not decided again after a crash. */
export interface DecidedRun {
  readonly run: WatchRun;
  /** The conditions that hold, as `KnownValues` has them. */
  readonly held: readonly string[];
}

export function packRun({ run, held }: DecidedRun): string {
  return JSON.stringify(held.length === 0 ? run : { ...run, held });
}

/** Reads a run written by `packRun`. */
export function unpackDecided(text: string): DecidedRun {
  const { held = [], ...run }: WatchRun & { readonly held?: readonly string[] } = JSON.parse(text);
  return { run, held };
}

export function unpackRun(text: string): WatchRun {
  return unpackDecided(text).run;
}
