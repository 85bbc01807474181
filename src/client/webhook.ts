import type { CapstanEvent } from './types.ts';

/** How far the clocks of sender and receiver may differ, in seconds. */
const TOLERANCE_SECONDS = 300;

export interface WebhookMessage {
  /** The body as it came. */
  readonly body: string;
  /** The values of `webhook-id`, `webhook-timestamp` and `webhook-signature`. */
  readonly headers:
    | { get(name: string): string | null }
    | Readonly<Record<string, string | readonly string[] | undefined>>;
}

/**
 * Returns the event of a webhook's message, when one of the secrets (`whsec_...`) signed it within the last five
 * minutes. Throws otherwise.
 */
export async function verifyWebhook(
  message: WebhookMessage,
  secrets: string | readonly string[],
): Promise<CapstanEvent> {
  const [id, timestamp, given] = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) =>
    headerOf(message.headers, name),
  );
  const age = Math.abs(Date.now() / 1000 - Number(timestamp));
  if (!(age <= TOLERANCE_SECONDS)) throw new Error('webhook-timestamp is missing, or more than five minutes away.');
  const content = new TextEncoder().encode(`${id}.${timestamp}.${message.body}`);
  const signatures = (given ?? '').split(' ').flatMap((each) => (each.startsWith('v1,') ? [each.slice(3)] : []));
  for (const secret of typeof secrets === 'string' ? [secrets] : secrets) {
    const raw = bytesOf(secret.replace(/^whsec_/, ''));
    const key = await crypto.subtle.importKey('raw', raw, { name: 'HMAC', hash: 'SHA-256' }, false, ['verify']);
    for (const signature of signatures) {
      // Compares in constant time.
      if (await crypto.subtle.verify('HMAC', key, bytesOf(signature), content)) return JSON.parse(message.body);
    }
  }
  throw new Error('webhook-signature is none of these secrets.');
}

function headerOf(headers: WebhookMessage['headers'], name: string): string | undefined {
  const value =
    typeof headers.get === 'function' ? headers.get(name) : (headers as Readonly<Record<string, string>>)[name];
  return value ?? undefined;
}

function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
  try {
    return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  } catch {
    return new Uint8Array();
  }
}
