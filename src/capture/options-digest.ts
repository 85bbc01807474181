import { createHash } from 'node:crypto';
import type { CaptureRequest } from './request.ts';

/**
 * What is told of how a capture was made: SHA-256, lower-case hex, of all that changes what it shows or notes; `''` for
 * one that was made with somebody's secrets, which could be guessed from it. Such a capture is nobody else's answer.
 */
export function optionsDigest(request: CaptureRequest): string {
  return hasSecrets(request) ? '' : likeness(request);
}

/**
 * What stands for how a capture is made, secrets among it: never to be told. The URL, the deadline, who is told of it
 * and how old an answer may be are no part of it.
 */
export function likeness(request: CaptureRequest): string {
  const { url: _url, timeoutMs: _timeoutMs, callback: _callback, cacheMaxAgeMs: _age, ...options } = request;
  return createHash('sha256').update(canonical(options)).digest('hex');
}

function hasSecrets({ headers, cookies, httpCredentials, proxy, actions, form }: CaptureRequest): boolean {
  return [headers, cookies, httpCredentials, proxy?.credentials, actions, form].some((part) => part !== undefined);
}

/** JSON with its keys in order, and nothing of what is left out. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, part: unknown) =>
    typeof part === 'object' && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  );
}
