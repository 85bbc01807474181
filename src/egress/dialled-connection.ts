import type { Socket } from 'node:net';
import { type Dialled, MAX_UNUSED_MS } from '../capture/dialled.ts';
import type { CapstanError } from '../capture/errors.ts';
import type { Destination } from './egress-policy.ts';

/** Age up to which an open connection is fresh, in milliseconds: an idle service sends the first request sooner. */
const MAX_FRESH_MS = 500;

/** Takes the open connection to a destination, or to the proxy; throws its failure. */
export type TakeDialled = (
  destination: Destination,
) => { readonly socket: Socket; readonly address: string } | undefined;

/** Connections that were not fresh at their first request, and streams over them. */
const aged = new WeakSet<object>();

/**
 * Whether the target may have closed a connection while its first request was on its way. Without an answer, repeat the
 * request once on another connection.
 */
export function mayHaveClosed(connection: object): boolean {
  return aged.has(connection);
}

/** Returns the stream over a connection, for which `mayHaveClosed` then answers as for the connection. */
export function standsFor<S extends object>(stream: S, connection: object): S {
  if (aged.has(connection)) aged.add(stream);
  return stream;
}

export interface Opened {
  readonly destination: Destination;
  readonly socket: Socket;
  /** The address that answered. */
  readonly address: string;
}

/** The result of dialling a capture's target ahead. */
export class DialledConnection implements Dialled {
  readonly ms: number;
  readonly #openedAt = performance.now();
  #opened: Opened | undefined;
  #failed: { readonly destination: Destination; readonly error: CapstanError } | undefined;

  constructor(ms: number, opened?: Opened) {
    this.ms = ms;
    this.#opened = opened;
    opened?.socket.setTimeout(MAX_UNUSED_MS, () => opened.socket.destroy());
  }

  /** Notes the failure of another destination. */
  failed(destination: Destination, error: CapstanError): this {
    this.#failed = { destination, error };
    return this;
  }

  take(host: string, port: number): { readonly socket: Socket; readonly address: string } | undefined {
    const isAsked = (destination: Destination) => destination.host === host && destination.port === port;
    if (this.#failed !== undefined && isAsked(this.#failed.destination)) {
      const { error } = this.#failed;
      this.#failed = undefined;
      throw error;
    }
    const opened = this.#opened;
    if (opened === undefined || !isAsked(opened.destination)) return undefined;
    this.#opened = undefined;
    const { socket, address } = opened;
    socket.setTimeout(0);
    socket.removeAllListeners('timeout');
    // The target has closed it, or it has waited too long.
    if (socket.destroyed || socket.readableEnded || !socket.writable) {
      socket.destroy();
      return undefined;
    }
    if (performance.now() - this.#openedAt > MAX_FRESH_MS) aged.add(socket);
    return { socket, address };
  }

  close(): void {
    this.#opened?.socket.destroy();
    this.#opened = undefined;
  }
}
