import { createHash } from 'node:crypto';
import { canonicalJson } from '../basics/canonical-json.ts';
import { type CaptureRequest, DEFAULT_REQUEST } from '../request.ts';
import { factsOfOption } from './groups.ts';
import { secretOptions } from './recorded-options.ts';

/**
 * Version of the defaults, increased when a new default changes what a capture shows, so that no capture made before
 * the change is reused. Version 2: `waitUntil` is `settled` instead of `load`.
 */
const DEFAULTS_VERSION = 2;

/**
 * Returns the digest that a record holds: SHA-256, lower-case hex, of all options that change what the capture shows or
 * records. Returns `''` for a capture with secrets, because they could be guessed from the digest; such a capture is
 * never reused.
 */
export function optionsDigest(request: CaptureRequest): string {
  return secretOptions(request).length > 0 ? '' : likeness(request);
}

/**
 * Returns a key that is the same for all requests whose captures would differ only because of the URL. The key is
 * derived from secrets, too, and must never be shown. Options at their default are left out, so that a new option
 * changes no key.
 */
export function likeness(request: CaptureRequest): string {
  const { target: _target, timeoutMs: _timeoutMs, callback: _callback, scan: _scan, ...options } = request;
  const defaults: Readonly<Record<string, unknown>> = DEFAULT_REQUEST;
  const chosen = Object.entries(options)
    // The cheap comparison comes first, because most options have their default.
    .filter(([name, value]) => value !== defaults[name] && factsOfOption(name)?.identity !== false)
    .map(([name, value]) => [name, canonicalJson(value)])
    .filter(([name, text]) => text !== DEFAULTS.get(name ?? ''))
    .sort(([a = ''], [b = '']) => (a < b ? -1 : 1));
  return createHash('sha256')
    .update(JSON.stringify([DEFAULTS_VERSION, chosen]))
    .digest('hex');
}

const DEFAULTS: ReadonlyMap<string, string | undefined> = new Map(
  Object.entries(DEFAULT_REQUEST).map(([name, value]) => [name, canonicalJson(value)]),
);
