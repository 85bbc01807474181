import { isIP } from 'node:net';
import { reserveOf } from '../capture/deadline.ts';
import type { Dialled } from '../capture/dialled.ts';
import { CapstanError, toFailure } from '../capture/errors.ts';
import { overHttp } from '../capture/target.ts';
import { dial } from './dial.ts';
import { DialledConnection } from './dialled-connection.ts';
import type { DialTarget } from './egress.ts';
import { type Destination, type EgressPolicy, isLocalhost, unbracketed } from './egress-policy.ts';
import { urlDestination } from './egress-proxy.ts';
import { resolveInTime } from './resolve-in-time.ts';
import { aboutProxy, proxyDestination } from './upstream.ts';

interface DialTargetOptions {
  readonly egressPolicy: EgressPolicy;
  /** Time limit for each connection, in milliseconds. */
  readonly dialTimeoutMs: number;
  /** Aborted when the capture is cancelled. */
  readonly signal: AbortSignal;
}

/**
 * Connects to a capture's target, as its browser would, or to its proxy. If `https` was assumed and nothing answers
 * there, connects over `http`. Rejects with the error that the capture would have in a browser: `target_forbidden`,
 * `target_unreachable`, `proxy_failed`, `capture_timeout`; or with the signal's reason.
 */
export async function dialTarget(
  asked: DialTarget,
  { egressPolicy, dialTimeoutMs, signal }: DialTargetOptions,
): Promise<Dialled> {
  const { target, proxy, timeoutMs } = asked;
  const began = performance.now();
  const leftMs = (): number => Math.max(1, Math.ceil(timeoutMs - (performance.now() - began)));
  const lookUp = (destination: Destination): Promise<readonly string[]> =>
    resolveInTime(asked, signal, (inTime) => egressPolicy.addressesOf(destination, inTime), leftMs());
  /** `within`: time for the connection in milliseconds, after which it rejects with `expired()`. */
  const connect = async (
    destination: Destination,
    addresses: readonly string[],
    within: number,
    expired: () => CapstanError,
  ): Promise<DialledConnection> => {
    const limit = within < dialTimeoutMs ? { timeoutMs: within, expired } : { timeoutMs: dialTimeoutMs };
    const connected = await dial(addresses, { port: destination.port, signal, ...limit });
    return new DialledConnection(performance.now() - began, { destination, ...connected });
  };
  const connectInTime = (destination: Destination, addresses: readonly string[], step = 'open the URL') => {
    const late = `nothing could be captured within ${timeoutMs} ms (${step})`;
    return connect(destination, addresses, leftMs(), () => new CapstanError('capture_timeout', late));
  };

  if (proxy !== undefined) {
    const at = proxyDestination(proxy);
    try {
      return await connectInTime(at, await lookUp(at));
    } catch (error) {
      throw aboutProxy(error, at);
    }
  }

  const destination = urlDestination(target.parsed);
  const plainUrl = overHttp(target);
  if (plainUrl === undefined) {
    const addresses = await lookUp(destination);
    try {
      return await connectInTime(destination, addresses);
    } catch (error) {
      // The browser may know that the host is served over https alone (HSTS), and never ask for port 80.
      if (!isUnreachable(error) || !mayBePreloaded(target.parsed)) throw error;
      return new DialledConnection(performance.now() - began).failed(destination, error);
    }
  }

  const overTls = async (): Promise<DialledConnection | CapstanError> => {
    try {
      const addresses = await lookUp(destination);
      // The attempt over TLS may hang, and the one over http needs as much time.
      const within = Math.ceil((leftMs() - reserveOf(leftMs())) / 2);
      const silent = () => new CapstanError('target_unreachable', `no answer from ${target.url}`);
      return await connect(destination, addresses, within, silent);
    } catch (error) {
      if (isUnreachable(error)) return error;
      throw error;
    }
  };
  const first = await overTls();
  if (!(first instanceof CapstanError)) return first;
  try {
    const plain = urlDestination(new URL(plainUrl));
    const second = await connectInTime(plain, await lookUp(plain), 'open the URL over http');
    return second.failed(destination, first);
  } catch (error) {
    signal.throwIfAborted();
    const { code, reason } = toFailure(error);
    const text = code === 'target_unreachable' ? `${first.message}; over http: ${reason}` : reason;
    throw new CapstanError(code, text, { cause: error, fetchedUrl: plainUrl });
  }
}

function isUnreachable(error: unknown): error is CapstanError {
  return error instanceof CapstanError && error.code === 'target_unreachable';
}

/** Top-level names that no list of HSTS hosts contains (RFC 6761, RFC 6762 and the like). */
const SPECIAL_USE = /\.(?:test|invalid|example|localhost|local|internal)\.?$/i;

/** Whether Chromium's list of HSTS hosts may contain the host, so that it asks port 443 in place of port 80. */
function mayBePreloaded({ protocol, port, hostname }: URL): boolean {
  if (protocol !== 'http:' || port !== '') return false;
  return isIP(unbracketed(hostname)) === 0 && !isLocalhost(hostname) && !SPECIAL_USE.test(hostname);
}
