import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/**
 * Maximum number of listeners to an event of a response before Node warns of a leak. Node's `pipeline` adds 7 to `close`
 * for a body that is a stream, and our middleware and routes up to 5.
 */
const MAX_RESPONSE_LISTENERS = 20;

interface Connection {
  /** Responses that are not finished. */
  readonly responses: Set<ServerResponse>;
  last: ServerResponse | undefined;
}

/**
 * Open connections and their unfinished responses. Node's own notion of an idle connection cuts off answers that were
 * ended but are still being sent.
 */
export class Connections {
  readonly #connections = new Map<Socket, Connection>();
  #closing = false;

  get size(): number {
    return this.#connections.size;
  }

  opened(socket: Socket): void {
    this.#connections.set(socket, { responses: new Set(), last: undefined });
    // Every pipelined request adds listeners to the connection.
    socket.setMaxListeners(0);
    socket.once('close', () => this.#connections.delete(socket));
  }

  answering(socket: Socket, response: ServerResponse): void {
    response.setMaxListeners(MAX_RESPONSE_LISTENERS);
    const connection = this.#connections.get(socket);
    if (connection === undefined) return;
    const { responses } = connection;
    connection.last = response;
    responses.add(response);
    if (this.#closing) response.setHeader('Connection', 'close');
    response.once('close', () => {
      responses.delete(response);
      if (this.#closing && responses.size === 0) socket.destroySoon();
    });
  }

  /**
   * Returns which side a silent connection waits for: the client when it owes a request or does not read its answer,
   * otherwise the server, which may take as long as a capture.
   */
  silent(socket: Socket): 'client' | 'server' {
    const responses = this.#connections.get(socket)?.responses.size ?? 0;
    return responses === 0 || socket.writableLength > 0 ? 'client' : 'server';
  }

  /**
   * Returns whether the answer to the current request has begun or is even complete: an error response written now
   * would come after it.
   */
  hasBegunToAnswer(socket: Socket): boolean {
    const last = this.#connections.get(socket)?.last;
    return last?.headersSent === true && !(last.writableFinished && last.req.complete);
  }

  /** Closes idle connections now, and each other connection after its last answer was sent. */
  closeWhenIdle(): void {
    this.#closing = true;
    for (const [socket, { responses }] of this.#connections) {
      if (responses.size === 0) socket.destroySoon();
      for (const response of responses) if (!response.headersSent) response.setHeader('Connection', 'close');
    }
  }

  destroyAll(): void {
    for (const socket of this.#connections.keys()) socket.destroy();
  }
}
