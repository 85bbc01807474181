import type { IncomingMessage } from 'node:http';

/** Reads and drops the rest of the body of a request, so that the client gets to read the answer. */
export function dropBody(request: IncomingMessage): void {
  request.unpipe();
  request.resume();
}
