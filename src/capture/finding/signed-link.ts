import { createHmac, timingSafeEqual } from 'node:crypto';
import { CapstanError } from '../errors.ts';

/*
 * Signed links: HMAC-SHA-256, in hexadecimal, of the path and query as they are sent, up to `&signature=`. The last two
 * parameters are `expires` (seconds since the Unix epoch) and `signature`.
 */

const LINK = /^(.*[?&]expires=(\d{1,12}))&signature=([0-9a-f]{64})$/s;

/** Returns whether a request claims to have a signed link. */
export function claimsSignature(target: string): boolean {
  return /[?&]signature=/.test(target);
}

/** Returns the path and query of a link with its signature. `target`: path and query, without `expires`. */
export function signedTarget(target: string, expiresAt: number, key: string): string {
  const signed = `${target}${target.includes('?') ? '&' : '?'}expires=${expiresAt}`;
  return `${signed}&signature=${signatureOf(signed, key).toString('hex')}`;
}

/**
 * Checks a signed link. `target`: path and query as they were sent; `nowMs`: time since the Unix epoch.
 * @throws CapstanError `link_refused`
 */
export function checkSignedTarget(target: string, keys: readonly string[], nowMs: number): void {
  if (keys.length === 0) throw refused('The service has no --signing-key, so no signed link is accepted.');
  const [, signed, expires, signature] = LINK.exec(target) ?? [];
  if (signed === undefined || signature === undefined) {
    throw refused('A signed link ends with expires=<seconds> and signature=<64 hexadecimal digits>, in this order.');
  }
  const given = Buffer.from(signature, 'hex');
  const isSigned = keys.reduce((found, key) => timingSafeEqual(given, signatureOf(signed, key)) || found, false);
  if (!isSigned)
    throw refused('The signature is not that of this link: the link was changed, or its key is not known.');
  if (Number(expires) * 1000 <= nowMs) {
    throw refused(`The link expired at ${new Date(Number(expires) * 1000).toISOString()}.`);
  }
}

function signatureOf(signed: string, key: string): Buffer {
  return createHmac('sha256', key).update(signed, 'utf8').digest();
}

function refused(reason: string): CapstanError {
  return new CapstanError('link_refused', reason);
}
