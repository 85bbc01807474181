import type { ClientRequest } from 'node:http';
import got, { RequestError, type Response } from 'got';
import { AttemptLog } from './attempt-log.ts';
import { ACCEPTED_CODINGS, type Decompression, decompressWithin } from './decompress.ts';
import type { Settings } from './options.ts';
import { type ApiRequest, authenticate, redirectTarget } from './request.ts';
import { failureCode, isCorruptBody, type Obstacle, toTransportError } from './transport-error.ts';

const MAX_REDIRECTS = 5;

/** A whole answer, whatever its status. */
export interface Reply {
  readonly status: number;
  /** Decompressed body. Empty when the body of an error status could not be read. */
  readonly body: Uint8Array;
  readonly retryAfter: string | undefined;
  readonly location: string | undefined;
  /** Number of attempts until this answer. */
  readonly attempts: number;
}

export interface CallLimits {
  /** Aborting it ends every wait; its reason is thrown. */
  readonly signal: AbortSignal;
  /** Time limit for each attempt, in milliseconds. */
  readonly timeoutMs: number;
}

/**
 * Sends a request until the answer is not a 5xx or the attempts are used up. Redirects are followed here and not by
 * got, so that every hop waits for a token, has a limited body, and receives the key only at the base address's origin.
 *
 * @throws NetworkError, TimeoutError, BodyTooLargeError, InvalidResponseError, LimiterError, or the signal's reason.
 */
export async function execute(request: ApiRequest, settings: Settings, limits: CallLimits): Promise<Reply> {
  const log = new AttemptLog(settings);
  let hop = request;
  for (let redirects = 0; ; redirects += 1) {
    const reply = await send(hop, settings, limits, log);
    const isRedirect = [301, 302, 303, 307, 308].includes(reply.status) && redirects < MAX_REDIRECTS;
    const url = isRedirect ? redirectTarget(reply.location, hop.url, settings) : null;
    if (url === null) {
      log.end({ status: reply.status, failure: null, retryInMs: null });
      return reply;
    }
    hop = { ...hop, url };
  }
}

async function send(
  request: ApiRequest,
  settings: Settings,
  { signal, timeoutMs }: CallLimits,
  log: AttemptLog,
): Promise<Reply> {
  signal.throwIfAborted();
  const { url, headers } = authenticate(request, settings);
  const { retries, retryDelayMs, rateLimiter, maxBodyBytes } = settings;
  let obstacle: Obstacle = null;
  let wire: ClientRequest | undefined;
  let decompression: Decompression | undefined;

  const takeToken = async (): Promise<void> => {
    if (rateLimiter === null) return;
    try {
      await rateLimiter.take(signal);
    } catch (error) {
      obstacle = 'limiter';
      throw error;
    }
  };

  const exchange = got(url, {
    headers: { ...headers, 'accept-encoding': ACCEPTED_CODINGS },
    // got's own decompression has no size limit.
    decompress: false,
    responseType: 'buffer',
    throwHttpErrors: false,
    followRedirect: false,
    signal,
    hooks: {
      beforeRequest: [
        async (options) => {
          const asked = performance.now();
          await takeToken();
          log.start(url, performance.now() - asked);
          // The time of earlier hops counts against this attempt.
          options.timeout = { request: Math.max(1, Math.ceil(timeoutMs - log.elapsedMs)) };
        },
      ],
      // Forgets what ended the attempt before.
      beforeRetry: [
        () => {
          obstacle = null;
          decompression?.stop();
          decompression = undefined;
        },
      ],
    },
    retry: {
      limit: retries,
      methods: ['GET'],
      // got's own rules cover only some error codes, and would retry 408, 413 and 429.
      enforceRetryRules: false,
      calculateDelay: ({ error }) => {
        const status = error.response?.statusCode ?? null;
        const again = log.made <= retries && obstacle !== 'limiter' && isWorthRetrying(error, status, obstacle);
        // got takes a delay of 0 as "do not retry".
        const retryInMs = again ? Math.max(1, retryDelayMs) : null;
        log.end({ status, failure: failureCode(error), retryInMs });
        return retryInMs ?? 0;
      },
    },
  });
  const refuseBody = (): void => {
    if (obstacle !== null) return;
    obstacle = 'body';
    // Passes no error: once the last byte has arrived, nothing listens for one and the process would end.
    wire?.destroy();
  };
  exchange.on('request', (sent: ClientRequest) => {
    wire = sent;
    sent.prependOnceListener('response', (message) => {
      decompression = decompressWithin(message, maxBodyBytes, refuseBody);
    });
  });
  exchange.on('downloadProgress', ({ transferred }) => {
    if (transferred > maxBodyBytes) refuseBody();
  });

  const { response, body, error } = await settle(exchange, () => decompression?.body);
  decompression?.stop();
  if (response !== null && error === null && obstacle === null) return replyOf(response, body, log);
  const status = response?.statusCode ?? null;
  log.end({ status, failure: signal.aborted ? 'aborted' : failureCode(error), retryInMs: null });
  signal.throwIfAborted();
  // The body of this error status could not be read: report the status alone.
  if (response !== null && response.statusCode >= 400) return replyOf(response, new Uint8Array(), log);
  throw toTransportError(error, { obstacle, status, attempts: log.made, timeoutMs, settings });
}

interface Exchanged {
  readonly response: Response | null;
  readonly body: Uint8Array;
  readonly error: unknown;
}

/** Resolves with the end of an exchange: an answer, an error, or an answer that an error broke off. */
async function settle(
  exchange: PromiseLike<Response>,
  decompressed: () => Promise<Uint8Array> | null | undefined,
): Promise<Exchanged> {
  let response: Response | null = null;
  try {
    response = await exchange;
    return { response, body: (await decompressed()) ?? response.rawBody, error: null };
  } catch (error) {
    response ??= (error instanceof RequestError ? error.response : undefined) ?? null;
    return { response, body: new Uint8Array(), error };
  }
}

function replyOf({ statusCode, headers }: Response, body: Uint8Array, log: AttemptLog): Reply {
  return {
    status: statusCode,
    body,
    retryAfter: headers['retry-after'],
    location: headers.location,
    attempts: log.made,
  };
}

function isWorthRetrying(error: RequestError, status: number | null, obstacle: Obstacle): boolean {
  if (status !== null && status >= 500) return true;
  if (status !== null && status >= 400) return false;
  return obstacle === null && !isCorruptBody(error);
}
