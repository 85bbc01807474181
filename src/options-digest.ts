import { createHash } from 'node:crypto';
import type { CaptureRequest } from './domain.ts';

/**
 * What stands for how a capture is made: SHA-256, lower-case hex, of all that changes what it shows or notes. The URL,
 * the deadline, who is told of it and how old an answer may be are no part of it.
 */
export function optionsDigest(request: CaptureRequest): string {
  const { url: _url, timeoutMs: _timeoutMs, callback: _callback, cacheMaxAgeMs: _age, ...options } = request;
  return createHash('sha256').update(canonical(options)).digest('hex');
}

/** JSON with its keys in order, and nothing of what is left out. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, part: unknown) =>
    typeof part === 'object' && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  );
}
