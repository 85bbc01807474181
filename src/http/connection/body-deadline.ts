import type { IncomingMessage, ServerResponse } from 'node:http';
import { isStreamedBody } from '../lines/streamed-body.ts';

/**
 * Calls `late` when the body of a request has not arrived `ms` milliseconds after its head. For a streamed body, the
 * `ms` milliseconds begin only when its response has closed; Node's `requestTimeout` has no such exception and is not
 * used.
 */
export function limitBody(request: IncomingMessage, response: ServerResponse, ms: number, late: () => void): void {
  if (!hasBody(request)) return;
  const begin = (): void => {
    if (request.complete || request.destroyed) return;
    const timer = setTimeout(() => {
      if (!request.complete) late();
    }, ms);
    const stop = () => clearTimeout(timer);
    request.once('end', stop);
    request.once('close', stop);
  };
  if (isStreamedBody(request)) response.once('close', begin);
  else begin();
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}
