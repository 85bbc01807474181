import type { IncomingMessage, ServerResponse } from 'node:http';
import { isStreamedBody } from './lines/streamed-body.ts';

/**
 * Calls `late` when the body of a request has not come `ms` milliseconds after its head. A streamed body may take as
 * long as it takes, which is why this is not Node's own `requestTimeout`; what is left of it when it is answered has as
 * long as any other.
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
