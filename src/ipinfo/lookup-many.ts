import { IpapiError } from './errors.ts';
import type { IPInfo } from './names.ts';

/** The result for one of many addresses: its record, or the error. */
export type LookupResult =
  | { readonly ip: string; readonly info: IPInfo; readonly error?: never }
  | { readonly ip: string; readonly info?: never; readonly error: IpapiError };

/**
 * Looks up addresses, at most `concurrency` at a time, and yields them in input order. At most `concurrency` results
 * wait for the consumer, so memory does not grow with the input; when the consumer leaves, running lookups are
 * cancelled. An aborted `signal` ends the iteration with its reason.
 */
export async function* lookUpInOrder(
  ips: Iterable<string>,
  concurrency: number,
  signal: AbortSignal | undefined,
  lookUp: (ip: string, signal: AbortSignal) => Promise<IPInfo>,
): AsyncGenerator<LookupResult, void, undefined> {
  signal?.throwIfAborted();
  const left = new AbortController();
  const stop = signal === undefined ? left.signal : AbortSignal.any([signal, left.signal]);
  const input = ips[Symbol.iterator]();
  const turns: Promise<LookupResult>[] = [];

  const startOne = (): boolean => {
    const next = input.next();
    if (next.done === true) return false;
    const turn = lookUpOne(next.value, stop, lookUp);
    // The consumer may leave before this result is awaited.
    turn.catch(() => {});
    turns.push(turn);
    return true;
  };

  try {
    while (turns.length < concurrency && startOne());
    for (let turn = turns.shift(); turn !== undefined; turn = turns.shift()) {
      const result = await turn;
      startOne();
      yield result;
      signal?.throwIfAborted();
    }
  } finally {
    left.abort();
    input.return?.();
  }
}

async function lookUpOne(
  ip: string,
  signal: AbortSignal,
  lookUp: (ip: string, signal: AbortSignal) => Promise<IPInfo>,
): Promise<LookupResult> {
  try {
    return { ip, info: await lookUp(ip, signal) };
  } catch (error) {
    if (error instanceof IpapiError) return { ip, error };
    throw error;
  }
}
