import type { ClientRequest } from 'node:http';
import type { RequestError } from 'got';
import { CapstanError } from '../capture/errors.ts';
import type { WebhookFailureCause } from '../capture/events.ts';
import type { EgressAgents } from '../egress/egress.ts';
import { signatures } from './signature.ts';

export interface Message {
  /** Value of the header `webhook-id`. */
  readonly id: string;
  readonly url: URL;
  /** JSON. */
  readonly body: string;
}

/** The result of a delivery after this number of attempts. */
export type Delivery =
  | { readonly delivered: true; readonly status: number; readonly attempts: number }
  | {
      readonly delivered: false;
      readonly cause: WebhookFailureCause;
      /** Readable reason. */
      readonly reason: string;
      /** Status of the last answer; null when there was none. */
      readonly status: number | null;
      readonly attempts: number;
    };

export interface DeliveryOptions {
  readonly agents: EgressAgents;
  /** Returns the signing keys, at least one. */
  readonly keys: () => readonly Buffer[];
  /** Milliseconds since the Unix epoch. */
  readonly clock: () => number;
  /** Time limit for each attempt, from DNS lookup to the end of the answer, in milliseconds. */
  readonly timeoutMs?: number;
  /** Maximum number of retries. */
  readonly retries?: number;
  /** Pause before the first retry, in milliseconds; doubled for each further retry. */
  readonly retryDelayMs?: number;
  /** Maximum Retry-After that is obeyed, in milliseconds; a longer one ends the delivery. */
  readonly maxRetryAfterMs?: number;
}

/** Standard Webhooks recommends 15 to 30 seconds, which is enough for receivers with a database. */
const TIMEOUT_MS = 15_000;
/** Together with the pauses below this takes about 2 minutes, enough for a receiver to restart. */
const RETRIES = 7;
const RETRY_DELAY_MS = 1_000;
const MAX_DELAY_MS = 60_000;
const MAX_RETRY_AFTER_MS = 120_000;
/** The answer's body is not used, but reading a little of it lets well-behaved receivers finish. */
const MAX_ANSWER_BYTES = 16 * 1024;

const RETRIED_STATUSES = [408, 425, 429, ...Array.from({ length: 100 }, (_, index) => 500 + index)];
const RETRIED_ERRORS = [
  ...['ETIMEDOUT', 'ECONNRESET', 'EPIPE', 'ECONNABORTED', 'ERR_STREAM_PREMATURE_CLOSE'],
  'target_unreachable',
];

/**
 * Sends a message until a receiver has accepted it (2xx), has refused it (3xx, and 4xx except 408, 425 and 429), or the
 * attempts are used up. Never rejects; an aborted signal ends every wait.
 */
export async function deliver(message: Message, options: DeliveryOptions, signal: AbortSignal): Promise<Delivery> {
  const { agents, keys, clock } = options;
  const { timeoutMs = TIMEOUT_MS, retries = RETRIES, retryDelayMs = RETRY_DELAY_MS } = options;
  const { id, url, body } = message;
  let attempts = 0;
  let wire: ClientRequest | undefined;
  let answered: number | null = null;

  // Loaded with the first message, because got takes a tenth of the CPU time of a start.
  const { default: got } = await import('got');
  const exchange = got.post(url, {
    agent: agents,
    body,
    signal,
    followRedirect: false,
    decompress: false,
    responseType: 'buffer',
    headers: { 'content-type': 'application/json', 'user-agent': 'capstan', 'webhook-id': id },
    timeout: { request: timeoutMs },
    hooks: {
      beforeRequest: [
        ({ headers }) => {
          attempts += 1;
          answered = null;
          const timestamp = Math.floor(clock() / 1000);
          headers['webhook-timestamp'] = String(timestamp);
          headers['webhook-signature'] = signatures(keys(), { id, timestamp, body });
        },
      ],
    },
    retry: {
      limit: retries,
      methods: ['POST'],
      statusCodes: RETRIED_STATUSES,
      errorCodes: RETRIED_ERRORS,
      maxRetryAfter: options.maxRetryAfterMs ?? MAX_RETRY_AFTER_MS,
      calculateDelay: ({ attemptCount, error, retryAfter, computedValue }) => {
        // A receiver that answered 2xx has the message, whatever happens to the rest of its answer.
        if (computedValue === 0 || isTaken(statusOf(error))) return 0;
        const backOff = Math.min(retryDelayMs * 2 ** (attemptCount - 1), MAX_DELAY_MS);
        // Random jitter, so that messages that failed together are not retried together.
        return Math.max(retryAfter ?? 0, backOff * (0.5 + Math.random() / 2), 1);
      },
    },
  });
  exchange.on('request', (sent) => {
    wire = sent;
    sent.once('response', ({ statusCode }) => {
      answered = statusCode ?? null;
    });
  });
  exchange.on('downloadProgress', ({ transferred }) => {
    if (transferred > MAX_ANSWER_BYTES) wire?.destroy();
  });

  try {
    answered = (await exchange).statusCode;
    if (isTaken(answered)) return { delivered: true, status: answered, attempts };
    return { delivered: false, cause: 'refused', reason: answeredWith(answered), status: answered, attempts };
  } catch (error) {
    return failed(error, { answered, attempts, timeoutMs, signal });
  }
}

interface Circumstances {
  readonly answered: number | null;
  readonly attempts: number;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

function failed(error: unknown, { answered, attempts, timeoutMs, signal }: Circumstances): Delivery {
  const status = answered;
  if (status !== null && isTaken(status)) return { delivered: true, status, attempts };
  const no = (cause: WebhookFailureCause, reason: string): Delivery => ({
    ...{ delivered: false, cause, reason, status, attempts },
  });
  if (signal.aborted) return no('shutting_down', 'the service was stopped');
  if (status !== null) return no(RETRIED_STATUSES.includes(status) ? 'unreachable' : 'refused', answeredWith(status));
  const cause = causeOf(error);
  if (cause instanceof CapstanError) {
    return no(cause.code === 'target_forbidden' ? 'forbidden' : 'unreachable', cause.message);
  }
  if (codeOf(error) === 'ETIMEDOUT') return no('unreachable', `no answer within ${timeoutMs / 1000} s`);
  return no('unreachable', cause instanceof Error ? cause.message : String(cause));
}

function isTaken(status: number | null): boolean {
  return status !== null && status >= 200 && status < 300;
}

function answeredWith(status: number): string {
  return `the receiver answered ${status}`;
}

function statusOf(error: RequestError): number | null {
  return error.response?.statusCode ?? null;
}

function causeOf(error: unknown): unknown {
  return error instanceof Error && error.cause !== undefined ? error.cause : error;
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}
