import { type AddressInfo, connect, type Socket } from 'node:net';
import { CapstanError } from '../capture/errors.ts';

interface DialOptions {
  readonly port: number;
  /** Time limit for all attempts together, in milliseconds. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** Makes the error for the end of that time. @default `target_unreachable` */
  readonly expired?: (() => CapstanError) | undefined;
}

export interface Connected {
  readonly socket: Socket;
  /** The address that answered. */
  readonly address: string;
}

/** RFC 8305: delay before the next address is tried in parallel, in milliseconds. */
const ATTEMPT_DELAY_MS = 250;
/** Keeps a name with hundreds of addresses from turning a capture into a port scan. */
const MAX_ATTEMPTS = 8;

/**
 * Connects to the first address that answers, trying them in the given order. Does not look up names. Rejects with
 * `target_unreachable`, or the signal's reason.
 */
export function dial(
  addresses: readonly string[],
  { port, timeoutMs, signal, expired }: DialOptions,
): Promise<Connected> {
  return new Promise((resolve, reject) => {
    const waiting = addresses.slice(0, MAX_ATTEMPTS);
    const attempts = new Set<Socket>();
    let headStart: NodeJS.Timeout | undefined;
    let firstFailure: CapstanError | undefined;

    const settle = (): void => {
      clearTimeout(deadline);
      clearTimeout(headStart);
      signal.removeEventListener('abort', abort);
      for (const socket of attempts) socket.destroy();
    };
    const fail = (reason: unknown): void => {
      settle();
      reject(reason);
    };
    const abort = (): void => fail(signal.reason);
    const deadline = setTimeout(() => {
      const tried = addresses[0] ?? '';
      const silence = `no answer from ${addressAndPort(tried, port)} within ${timeoutMs / 1000} s`;
      fail(expired?.() ?? unreachable(silence, { code: 'ETIMEDOUT' }));
    }, timeoutMs);

    const attempt = (): void => {
      clearTimeout(headStart);
      const address = waiting.shift();
      if (address === undefined) {
        if (attempts.size === 0) fail(firstFailure);
        return;
      }
      const socket = connect({ host: address, port, noDelay: true });
      attempts.add(socket);
      // Kept for the socket's whole life: an error without a listener would end the process.
      socket.on('error', () => {});
      socket.once('error', (error) => {
        if (!attempts.delete(socket)) return;
        firstFailure ??= connectFailure(error, addressAndPort(address, port));
        attempt();
      });
      socket.once('connect', () => {
        attempts.delete(socket);
        settle();
        resolve({ socket, address });
      });
      if (waiting.length > 0) headStart = setTimeout(attempt, ATTEMPT_DELAY_MS);
    };

    if (signal.aborted) return abort();
    signal.addEventListener('abort', abort);
    attempt();
  });
}

function addressAndPort(address: string, port: number | AddressInfo['port']): string {
  return address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`;
}

function connectFailure(error: NodeJS.ErrnoException, peer: string): CapstanError {
  switch (error.code) {
    case 'ECONNREFUSED':
      return unreachable(`connection refused by ${peer}`, error);
    case 'ECONNRESET':
      return unreachable(`connection reset by ${peer}`, error);
    case 'ETIMEDOUT':
      return unreachable(`no answer from ${peer}`, error);
    case 'EHOSTUNREACH':
    case 'ENETUNREACH':
    case 'EADDRNOTAVAIL':
      return unreachable(`no route to ${peer}`, error);
    default:
      return unreachable(`no connection to ${peer} (${error.code ?? error.message})`, error);
  }
}

function unreachable(reason: string, cause?: unknown): CapstanError {
  return new CapstanError('target_unreachable', reason, { cause });
}
