import { IpapiError } from './errors.ts';
import type { IPInfo } from './names.ts';

/** One address of many: what is known about it, or why that could not be had. */
export type LookupResult =
  | { readonly ip: string; readonly info: IPInfo; readonly error?: never }
  | { readonly ip: string; readonly info?: never; readonly error: IpapiError };

/**
 * Looks the addresses up, at most `concurrency` at once, and yields each in its turn. No more than `concurrency`
 * results wait for the consumer, so that memory does not grow with the input; a consumer that leaves cancels what is
 * under way. An aborted `signal` ends the iteration with its reason.
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
    // Its turn to be awaited may never come.
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
