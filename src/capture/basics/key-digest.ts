import { createHash } from 'node:crypto';

/** Enough digits to tell the keys of a service apart, and too few to derive a key from. */
const FINGERPRINT_DIGITS = 8;

/** Returns the SHA-256 of an API key, in hexadecimal. */
export function keyDigest(key: string): string {
  return createHash('sha256').update(key, 'utf8').digest('hex');
}

/** Returns the first digits of the digest of a key, which name it in logs and in what it made. */
export function fingerprintOf(digest: string): string {
  return digest.slice(0, FINGERPRINT_DIGITS);
}
