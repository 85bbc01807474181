import { setMaxListeners } from 'node:events';
import type { Duplex } from 'node:stream';
import pLimit from 'p-limit';
import { CapstanError, type Failure, failure, toFailure } from '../capture/errors.ts';
import type { ExceededLimit } from '../capture/result/evidence.ts';
import type { Destination } from './egress-policy.ts';
import type { LookupQueue } from './resolver.ts';

export interface TrafficLimits {
  /** Maximum number of bytes in answers, tunnels and bodies of requests. */
  readonly maxBytes: number;
  /** Maximum number of forwarded requests and tunnels. Requests in a TLS tunnel are encrypted and not counted. */
  readonly maxRequests: number;
  /** Maximum number of names looked up. */
  readonly maxLookups: number;
}

/** Network traffic of one capture: connections, limits, and failures and addresses by destination. */
export class Traffic {
  readonly #limits: TrafficLimits;
  readonly #ended = new AbortController();
  readonly #sockets = new Set<Duplex>();
  readonly #failures = new Map<string, Failure>();
  readonly #addresses = new Map<string, string>();
  /** Queue of the capture's lookups. */
  readonly lookups: LookupQueue;
  readonly #refused: Record<ExceededLimit['limit'], number> = { requests: 0, names: 0, bytes: 0 };
  readonly #count: (limit: ExceededLimit['limit'], refused: number) => void;
  #requests = 0;
  #names = 0;
  #bytes = 0;
  #spent: CapstanError | null = null;

  constructor(limits: TrafficLimits, count: (limit: ExceededLimit['limit'], refused: number) => void = () => {}) {
    this.#limits = limits;
    this.#count = count;
    // No limit on listeners: a page opens dozens of connections at once.
    setMaxListeners(0, this.#ended.signal);
    this.lookups = createLookupQueue({ admit: () => this.#admitLookup(), signal: this.#ended.signal });
  }

  /** Aborted when the capture has ended or exceeded its limit of bytes. */
  get signal(): AbortSignal {
    return this.#ended.signal;
  }

  /** Closes a connection when the capture ends, and handles the connection's errors. */
  hold<S extends Duplex>(socket: S): S {
    if (this.#ended.signal.aborted) {
      socket.on('error', () => {});
      socket.destroy();
      return socket;
    }
    if (this.#sockets.has(socket)) return socket;
    this.#sockets.add(socket);
    socket.on('error', () => {});
    socket.once('close', () => this.#sockets.delete(socket));
    return socket;
  }

  /** Counts a request. Throws when the capture has exceeded its limit of requests or bytes. */
  admitRequest(): void {
    this.#refuseWhenSpent();
    this.#requests += 1;
    if (this.#requests > this.#limits.maxRequests) {
      this.#refuse('requests', 1);
      throw overLimit(`more than ${this.#limits.maxRequests} requests`);
    }
  }

  /** Counts bytes. Closes every connection when the limit of bytes is exceeded. */
  countBytes(bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes <= this.#limits.maxBytes || this.#spent) return;
    this.#spent = overLimit(`more than ${this.#limits.maxBytes} bytes`);
    // The connection that brought the last byte may have ended already.
    this.#refuse('bytes', Math.max(1, this.#sockets.size));
    this.#disconnect(this.#spent);
  }

  /** The limits that were exceeded, each with the number of requests, names or bytes refused. */
  get exceeded(): readonly ExceededLimit[] {
    const { maxRequests, maxLookups, maxBytes } = this.#limits;
    const { requests, names, bytes } = this.#refused;
    const all: readonly ExceededLimit[] = [
      { limit: 'requests', max: maxRequests, refused: requests },
      { limit: 'names', max: maxLookups, refused: names },
      { limit: 'bytes', max: maxBytes, refused: bytes },
    ];
    return all.filter(({ refused }) => refused > 0);
  }

  noteFailure(destination: Destination, { code, reason }: Failure): void {
    this.#failures.set(keyOf(destination), failure(code, reason));
  }

  /** Records the address of an open connection, and forgets earlier failures of its destination. */
  noteAddress(destination: Destination, address: string): void {
    this.#addresses.set(keyOf(destination), address);
    this.forgetFailure(destination);
  }

  forgetFailure(destination: Destination): void {
    this.#failures.delete(keyOf(destination));
  }

  failureFor(destination: Destination): Failure | null {
    const noted = this.#failures.get(keyOf(destination));
    if (noted) return noted;
    return this.#spent && toFailure(this.#spent);
  }

  addressFor(destination: Destination): string | null {
    return this.#addresses.get(keyOf(destination)) ?? null;
  }

  /** Ends every connection at once. */
  end(): void {
    this.#disconnect(new CapstanError('cancelled', 'The capture is over.'));
  }

  #admitLookup(): void {
    this.#refuseWhenSpent();
    this.#names += 1;
    if (this.#names > this.#limits.maxLookups) {
      this.#refuse('names', 1);
      throw overLimit(`more than ${this.#limits.maxLookups} names`);
    }
  }

  #refuseWhenSpent(): void {
    if (this.#spent === null) return;
    this.#refuse('bytes', 1);
    throw this.#spent;
  }

  #refuse(limit: ExceededLimit['limit'], refused: number): void {
    this.#refused[limit] += refused;
    this.#count(limit, refused);
  }

  #disconnect(reason: CapstanError): void {
    this.#ended.abort(reason);
    for (const socket of this.#sockets) socket.destroy();
  }
}

function keyOf({ host, port }: Destination): string {
  return `${host}:${port}`;
}

function overLimit(what: string): CapstanError {
  return new CapstanError('target_unreachable', `the page exceeded the limits of one capture: ${what}`);
}

interface LookupQueueOptions {
  /** Called before each lookup. Throws when the capture has used up its lookups. */
  readonly admit: () => void;
  /** Aborted when the capture has ended. */
  readonly signal: AbortSignal;
}

/** Maximum number of simultaneous lookups of one capture, so that slow lookups delay only that capture. */
export const MAX_LOOKUPS_AT_ONCE = 16;

/** Creates the queue of one capture's lookups, first in, first out. It is dropped when the capture ends. */
function createLookupQueue({ admit, signal }: LookupQueueOptions): LookupQueue {
  const limit = pLimit({ concurrency: MAX_LOOKUPS_AT_ONCE, rejectOnClear: true });
  signal.addEventListener('abort', () => limit.clearQueue(), { once: true });
  return async (lookUp) => {
    try {
      admit();
      return await limit(lookUp);
    } catch (error) {
      signal.throwIfAborted();
      throw error;
    }
  };
}
