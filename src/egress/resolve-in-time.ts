import { CapstanError } from '../capture/errors.ts';
import type { DialTarget } from './egress.ts';

/**
 * Resolves the name of a target, or of its proxy. `resolve` is given a signal that is aborted with `signal`, and after
 * `leftMs`.
 * @throws `capture_timeout` when the name is not resolved by then.
 */
export async function resolveInTime<T>(
  { target, proxy, timeoutMs }: DialTarget,
  signal: AbortSignal,
  resolve: (signal: AbortSignal) => Promise<T>,
  leftMs = timeoutMs,
): Promise<T> {
  const expiry = AbortSignal.timeout(leftMs);
  try {
    return await resolve(AbortSignal.any([signal, expiry]));
  } catch (error) {
    if (signal.aborted || !expiry.aborted) throw error;
    const name = proxy === undefined ? target.parsed.hostname : 'the proxy';
    throw new CapstanError('capture_timeout', `${name} was not resolved within ${timeoutMs} ms`, { cause: error });
  }
}
