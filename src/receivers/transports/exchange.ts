import type { ClientRequest, IncomingHttpHeaders } from 'node:http';
import { codeOf } from '../../capture/basics/error-code.ts';
import { errorText } from '../../capture/basics/error-text.ts';
import { retryAfterMs } from '../../capture/basics/retry-after.ts';
import { CapstanError } from '../../capture/errors.ts';
import type { EgressAgents } from '../../egress/egress.ts';
import type { Attempt, Transport } from '../transport.ts';
import { plain, within } from './plain-text.ts';

interface HttpRequest {
  readonly url: URL;
  /** @default POST */
  readonly method?: 'POST' | 'PUT';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string | Buffer | FormData;
}

export interface HttpAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** Empty when it is larger than the bound, or broken off. */
  readonly body: string;
}

export interface HttpParts {
  readonly agents: EgressAgents;
  /** Time limit for each request, from DNS lookup to the end of the answer, in milliseconds. */
  readonly timeoutMs?: number | undefined;
}

/** Enough for an upload of some megabytes, and for receivers with a database. */
const TIMEOUT_MS = 30_000;
const MAX_ANSWER_BYTES = 64 * 1024;
const MAX_SAID = 200;
const TEMPORARY_STATUSES: readonly number[] = [408, 425, 429];

/** Sends a request. Follows no redirect. Rejects when there was no answer. */
export async function exchange(request: HttpRequest, parts: HttpParts, signal: AbortSignal): Promise<HttpAnswer> {
  let wire: ClientRequest | undefined;
  let answered: HttpAnswer | undefined;
  const { url, method = 'POST', headers, body } = request;
  // Loaded with the first message, because got takes a tenth of the CPU time of a start.
  const { default: got } = await import('got');
  const sending = got(url, {
    method,
    agent: parts.agents,
    headers: { 'user-agent': 'capstan', ...headers },
    body,
    signal,
    followRedirect: false,
    decompress: false,
    throwHttpErrors: false,
    retry: { limit: 0 },
    timeout: { request: parts.timeoutMs ?? TIMEOUT_MS },
  });
  sending.on('request', (sent) => {
    wire = sent;
    sent.once('response', ({ statusCode, headers }) => {
      answered = { status: statusCode ?? 0, headers, body: '' };
    });
  });
  sending.on('downloadProgress', ({ transferred }) => {
    if (transferred > MAX_ANSWER_BYTES) wire?.destroy();
  });
  try {
    const { statusCode: status, headers, body } = await sending;
    return { status, headers, body };
  } catch (error) {
    // A receiver that answered has the message, whatever happens to the rest of its answer.
    if (answered !== undefined) return answered;
    throw error;
  }
}

/** Returns a transport whose attempts say how they ended when `send` rejects. */
export function transport(send: Transport): Transport {
  return async (message, signal) => {
    try {
      signal.throwIfAborted();
      return await send(message, signal);
    } catch (error) {
      if (signal.aborted) return again('the attempt was broken off');
      const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
      if (cause instanceof CapstanError && cause.code === 'target_forbidden')
        return { end: 'forbidden', reason: cause.message, status: null };
      if (codeOf(error) === 'ETIMEDOUT') return again('no answer in time');
      return again(errorText(cause));
    }
  };
}

export function again(reason: string, status: number | null = null, afterMs: number | null = null): Attempt {
  return { end: 'again', reason, status, afterMs };
}

export function refused(reason: string, status: number | null = null): Attempt {
  return { end: 'refused', reason, status };
}

/**
 * Returns what an answer means by its status: temporary are 408, 425, 429 and 5xx. `said`: what the receiver answered.
 */
export function endOf({ status, headers, body }: HttpAnswer, afterMs?: number | null, said = body): Attempt {
  if (status >= 200 && status < 300) return { end: 'delivered', status };
  const reason = `the receiver answered ${status}${said === '' ? '' : `: ${reasonIn(said)}`}`;
  if (status < 500 && !TEMPORARY_STATUSES.includes(status)) return refused(reason, status);
  return again(reason, status, afterMs ?? retryAfterMs(headers['retry-after'], Date.now()));
}

/** Returns what a receiver said as a short line. */
export function reasonIn(said: string): string {
  return within(plain(said.slice(0, 4 * MAX_SAID)), MAX_SAID);
}

/** Returns null for what is not JSON. */
export function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
