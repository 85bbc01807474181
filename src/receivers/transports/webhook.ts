import type { ClientRequest } from 'node:http';
import { CapstanError } from '../../capture/errors.ts';
import { waitOf } from '../../capture/retry-after.ts';
import type { EgressAgents } from '../../egress/egress.ts';
import type { Attempt, Transport } from '../transport.ts';
import { signatures } from './signature.ts';

export interface WebhookOptions {
  readonly url: URL;
  readonly agents: EgressAgents;
  /** Returns the signing keys, at least one. */
  readonly keys: () => readonly Buffer[];
  /** Milliseconds since the Unix epoch. */
  readonly clock: () => number;
  /** Time limit for an attempt, from DNS lookup to the end of the answer, in milliseconds. */
  readonly timeoutMs?: number | undefined;
}

/** Standard Webhooks recommends 15 to 30 seconds, which is enough for receivers with a database. */
const TIMEOUT_MS = 15_000;
/** The answer's body is not used, but reading a little of it lets well-behaved receivers finish. */
const MAX_ANSWER_BYTES = 16 * 1024;
const TEMPORARY_STATUSES: readonly number[] = [408, 425, 429];

/**
 * Posts messages, signed as in Standard Webhooks. A receiver takes one with 2xx, and refuses it with 3xx, and 4xx except
 * 408, 425 and 429.
 */
export function webhookTransport({ url, agents, keys, clock, timeoutMs = TIMEOUT_MS }: WebhookOptions): Transport {
  return {
    async send({ id, body }, signal): Promise<Attempt> {
      let wire: ClientRequest | undefined;
      let answered: number | null = null;
      let retryAfter: string | undefined;

      // Loaded with the first message, because got takes a tenth of the CPU time of a start.
      const { default: got } = await import('got');
      const timestamp = Math.floor(clock() / 1000);
      const exchange = got.post(url, {
        agent: agents,
        body,
        signal,
        followRedirect: false,
        decompress: false,
        responseType: 'buffer',
        throwHttpErrors: false,
        retry: { limit: 0 },
        headers: {
          'content-type': 'application/json',
          'user-agent': 'capstan',
          'webhook-id': id,
          'webhook-timestamp': String(timestamp),
          'webhook-signature': signatures(keys(), { id, timestamp, body }),
        },
        timeout: { request: timeoutMs },
      });
      exchange.on('request', (sent) => {
        wire = sent;
        sent.once('response', ({ statusCode, headers }) => {
          answered = statusCode ?? null;
          retryAfter = headers['retry-after'];
        });
      });
      exchange.on('downloadProgress', ({ transferred }) => {
        if (transferred > MAX_ANSWER_BYTES) wire?.destroy();
      });

      try {
        answered = (await exchange).statusCode;
      } catch (error) {
        // A receiver that answered 2xx has the message, whatever happens to the rest of its answer.
        if (answered === null) return failed(error, timeoutMs);
      }
      return answerOf(answered, waitOf(retryAfter, clock()) ?? null);
    },
  };
}

function answerOf(status: number, afterMs: number | null): Attempt {
  if (status >= 200 && status < 300) return { end: 'delivered', status };
  const reason = `the receiver answered ${status}`;
  if (status >= 500 || TEMPORARY_STATUSES.includes(status)) return { end: 'again', reason, status, afterMs };
  return { end: 'refused', reason, status };
}

function failed(error: unknown, timeoutMs: number): Attempt {
  const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
  if (cause instanceof CapstanError && cause.code === 'target_forbidden') {
    return { end: 'refused', reason: cause.message, status: null };
  }
  const again = (reason: string): Attempt => ({ end: 'again', reason, status: null, afterMs: null });
  if (error instanceof Error && 'code' in error && error.code === 'ETIMEDOUT') {
    return again(`no answer within ${timeoutMs / 1000} s`);
  }
  return again(cause instanceof Error ? cause.message : String(cause));
}
