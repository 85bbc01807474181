import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

interface Connection {
  /** Under way. */
  readonly responses: Set<ServerResponse>;
  last: ServerResponse | undefined;
}

/** Which connections are open, and which responses under way on each: Node's own idea of idle cuts off answers that
 * were ended but are still being sent. */
export class Connections {
  readonly #connections = new Map<Socket, Connection>();
  #closing = false;

  get size(): number {
    return this.#connections.size;
  }

  opened(socket: Socket): void {
    this.#connections.set(socket, { responses: new Set(), last: undefined });
    // Each request that a client sends before it has the answer to the last one watches the connection.
    socket.setMaxListeners(0);
    socket.once('close', () => this.#connections.delete(socket));
  }

  answering(socket: Socket, response: ServerResponse): void {
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
   * Nothing came and nothing went for a while. It is the client's silence when it has no answer to wait for, and when
   * it does not take the one that lies ready for it; else it is ours, and lasts as long as captures do.
   */
  silent(socket: Socket): 'client' | 'server' {
    const responses = this.#connections.get(socket)?.responses.size ?? 0;
    return responses === 0 || socket.writableLength > 0 ? 'client' : 'server';
  }

  /** Whether anything that is written now would stand in the middle of an answer, or behind one to the same request. */
  hasBegunToAnswer(socket: Socket): boolean {
    const last = this.#connections.get(socket)?.last;
    return last?.headersSent === true && !(last.writableFinished && last.req.complete);
  }

  /** Idle ones now, each of the others when its last answer has been sent. */
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
