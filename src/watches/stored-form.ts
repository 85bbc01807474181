import type { Client } from '../capture/client.ts';
import type { WatchRequest } from '../capture/request.ts';
import { requestFromStore, requestToStore, type StoredRequest } from '../capture/stored-request.ts';
import type { WatchRun } from '../capture/watch.ts';

/** Watch as its client wants it. */
export interface Definition extends WatchRequest {
  /** The body that it was made from, which `PATCH` changes. */
  readonly written: Readonly<Record<string, unknown>>;
  /** The client that the captures are made for. */
  readonly by: Client;
  readonly createdAt: string;
  readonly isPaused: boolean;
}

type StoredDefinition = Omit<Definition, 'request'> & { readonly request: StoredRequest };

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
  readonly lastRun: WatchRun | null;
}

export const NO_PROGRESS: Progress = {
  baseline: null,
  latest: null,
  runs: 0,
  changes: 0,
  failures: 0,
  lastRun: null,
};

export function packDefinition(definition: Definition): string {
  const stored: StoredDefinition = { ...definition, request: requestToStore(definition.request) };
  return JSON.stringify(stored);
}

/** Reads a definition written by `packDefinition`. */
export function unpackDefinition(text: string): Definition {
  const stored: StoredDefinition = JSON.parse(text);
  return { ...stored, request: requestFromStore(stored.request) };
}

export function packProgress(progress: Progress): string {
  return JSON.stringify(progress);
}

/** Reads progress written by `packProgress`. */
export function unpackProgress(text: string): Progress {
  const progress: Progress = JSON.parse(text);
  return progress;
}

export function packRun(run: WatchRun): string {
  return JSON.stringify(run);
}

/** Reads a run written by `packRun`. */
export function unpackRun(text: string): WatchRun {
  const run: WatchRun = JSON.parse(text);
  return run;
}
