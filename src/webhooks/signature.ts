import { createHmac } from 'node:crypto';

/*
 * The signature of Standard Webhooks (https://www.standardwebhooks.com): HMAC-SHA-256, symmetric, `v1`.
 */

/** What is signed. */
export interface SignedContent {
  /** `webhook-id`: the same for each attempt at one message. */
  readonly id: string;
  /** `webhook-timestamp`: seconds since the epoch, of the attempt. */
  readonly timestamp: number;
  readonly body: string;
}

/** The key in a secret: `whsec_` and base64. */
export function readSecret(secret: string): Buffer {
  return Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
}

/** `webhook-signature`: one signature for each key, so that a receiver may know the old or the new one. */
export function signatures(keys: readonly Buffer[], { id, timestamp, body }: SignedContent): string {
  const content = `${id}.${timestamp}.${body}`;
  return keys.map((key) => `v1,${createHmac('sha256', key).update(content).digest('base64')}`).join(' ');
}
