import { retryAfterMs } from '../../capture/basics/retry-after.ts';
import type { Transport } from '../transport.ts';
import { endOf, exchange, type HttpParts, transport } from './exchange.ts';
import { signatures } from './signature.ts';

export interface WebhookOptions extends HttpParts {
  readonly url: URL;
  /** Returns the signing keys, at least one. */
  readonly keys: () => readonly Buffer[];
  /** Milliseconds since the Unix epoch. */
  readonly clock: () => number;
}

/** Standard Webhooks recommends 15 to 30 seconds, which is enough for receivers with a database. */
const TIMEOUT_MS = 15_000;

/** Posts messages, signed as in Standard Webhooks. Of the answers of receivers, only the status is used. */
export function webhookTransport({ url, agents, keys, clock, timeoutMs = TIMEOUT_MS }: WebhookOptions): Transport {
  return transport(async ({ id, body }, signal) => {
    const timestamp = Math.floor(clock() / 1000);
    const headers = {
      'content-type': 'application/json',
      'webhook-id': id,
      'webhook-timestamp': String(timestamp),
      'webhook-signature': signatures(keys(), { id, timestamp, body }),
    };
    const answer = await exchange({ url, headers, body }, { agents, timeoutMs }, signal);
    return endOf(answer, retryAfterMs(answer.headers['retry-after'], clock()), '');
  });
}
