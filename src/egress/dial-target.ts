import { isIP } from 'node:net';
import { reserveOf } from '../capture/deadline.ts';
import type { Dialled } from '../capture/dialled.ts';
import { CapstanError, toFailure } from '../capture/errors.ts';
import { overHttp } from '../capture/target.ts';
import { type Connected, dial } from './dial.ts';
import { DialledConnection } from './dialled-connection.ts';
import type { DialTarget } from './egress.ts';
import { type Destination, type EgressPolicy, isLocalhost, unbracketed } from './egress-policy.ts';
import { urlDestination } from './egress-proxy.ts';
import { aboutProxy, proxyDestination } from './upstream.ts';

interface DialTargetOptions {
  readonly egressPolicy: EgressPolicy;
  /** Time limit for each connection, in milliseconds. */
  readonly dialTimeoutMs: number;
  /** Aborted when the capture is cancelled. */
  readonly signal: AbortSignal;
}

/**
 * Connects to a capture's target, as its browser would, or to its proxy. Over `http` where nothing answers at an
 * assumed `https`. Rejects with the error of a capture whose browser finds this out: `target_forbidden`,
 * `target_unreachable`, `proxy_failed`, `capture_timeout`, or the signal's reason.
 */
export async function dialTarget(
  { target, proxy, timeoutMs }: DialTarget,
  { egressPolicy, dialTimeoutMs, signal }: DialTargetOptions,
): Promise<Dialled> {
  const began = performance.now();
  const leftMs = (): number => Math.max(1, Math.ceil(timeoutMs - (performance.now() - began)));
  const late = (text: string, cause?: unknown) => new CapstanError('capture_timeout', text, { cause });

  const lookUp = async (destination: Destination): Promise<readonly string[]> => {
    const expiry = AbortSignal.timeout(leftMs());
    try {
      return await egressPolicy.admit(destination, AbortSignal.any([signal, expiry]));
    } catch (error) {
      if (signal.aborted || !expiry.aborted) throw error;
      const name = proxy === undefined ? destination.host : 'the proxy';
      throw late(`${name} was not resolved within ${timeoutMs} ms`, error);
    }
  };
  /** `within`: time for the connection in milliseconds, after which it rejects with `expired()`. */
  const connect = (addresses: readonly string[], port: number, within: number, expired: () => CapstanError) => {
    const isSooner = within < dialTimeoutMs;
    const timeoutMs = isSooner ? within : dialTimeoutMs;
    return dial(addresses, { port, timeoutMs, signal, expired: isSooner ? expired : undefined });
  };
  const reach = async (destination: Destination, step: string): Promise<Connected> => {
    const addresses = await lookUp(destination);
    const within = leftMs();
    const expired = () => late(`nothing could be captured within ${timeoutMs} ms (${step})`);
    return connect(addresses, destination.port, within, expired);
  };
  const opened = (destination: Destination, { socket, address }: Connected): DialledConnection =>
    new DialledConnection({ destination, socket, address, ms: performance.now() - began });

  if (proxy !== undefined) {
    const at = proxyDestination(proxy);
    try {
      return opened(at, await reach(at, 'open the URL'));
    } catch (error) {
      throw aboutProxy(error, at);
    }
  }

  const destination = urlDestination(target.parsed);
  const plainUrl = overHttp(target);
  if (plainUrl === undefined) {
    const addresses = await lookUp(destination);
    const within = leftMs();
    try {
      const expired = () => late(`nothing could be captured within ${timeoutMs} ms (open the URL)`);
      return opened(destination, await connect(addresses, destination.port, within, expired));
    } catch (error) {
      // The browser may know that the host is served over https alone (HSTS), and never ask for port 80.
      if (!isUnreachable(error) || !mayBePreloaded(target.parsed)) throw error;
      return new DialledConnection({ ms: performance.now() - began }).failed(destination, error);
    }
  }

  const plain = new URL(plainUrl);
  const overTls = async (): Promise<Connected | CapstanError> => {
    try {
      const addresses = await lookUp(destination);
      // The attempt over TLS may hang, and the one over http needs as much time.
      const within = Math.ceil((leftMs() - reserveOf(leftMs())) / 2);
      const silent = () => new CapstanError('target_unreachable', `no answer from ${target.url}`);
      return await connect(addresses, destination.port, within, silent);
    } catch (error) {
      if (isUnreachable(error)) return error;
      throw error;
    }
  };
  const first = await overTls();
  if (!(first instanceof CapstanError)) return opened(destination, first);
  try {
    const second = await reach(urlDestination(plain), 'open the URL over http');
    return opened(urlDestination(plain), second).failed(destination, first);
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
