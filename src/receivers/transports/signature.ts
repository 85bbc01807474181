import { createHmac } from 'node:crypto';

/*
 * The symmetric signature `v1` of Standard Webhooks (https://www.standardwebhooks.com): HMAC-SHA-256. Not by its
 * library, which computes SHA-256 in JavaScript.
 */

/** The signed parts of a message. */
interface SignedContent {
  /** `webhook-id`: the same for every attempt to deliver a message. */
  readonly id: string;
  /** `webhook-timestamp`: time of the attempt in seconds since the Unix epoch. */
  readonly timestamp: number;
  readonly body: string;
}

/** Decodes the key of a secret: `whsec_` followed by base64. */
export function readSecret(secret: string): Buffer {
  return Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
}

/**
 * Returns the value of `webhook-signature`: one signature per key, so that receivers may use the old or the new key.
 */
export function signatures(keys: readonly Buffer[], { id, timestamp, body }: SignedContent): string {
  const content = `${id}.${timestamp}.${body}`;
  return keys.map((key) => `v1,${createHmac('sha256', key).update(content).digest('base64')}`).join(' ');
}
