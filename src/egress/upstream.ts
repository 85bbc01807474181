import http, { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { codeOf } from '../capture/basics/error-code.ts';
import { CapstanError } from '../capture/errors.ts';
import type { UpstreamProxy } from '../capture/options/proxy.ts';
import { dial } from './dial.ts';
import type { TakeDialled } from './dialled-connection.ts';
import type { Destination, EgressPolicy } from './egress-policy.ts';
import type { PeerCheck } from './peer-users.ts';
import type { Traffic } from './traffic.ts';

/** Maximum size of the head of an answer to CONNECT. */
const MAX_HEAD_BYTES = 16 * 1024;
/** Statuses with which a proxy reports its own failure. A target's 502 and 504 are reported as the proxy's. */
const FAILURES = new Set([407, 502, 504]);
/** Headers that common proxies add to error pages of their own. */
const OWN_ANSWER = ['x-squid-error', 'proxy-status'];

/** Completes "the proxy ...". */
const UNKNOWN_USERS =
  'is used only without credentials: this system does not report the users of connections, so another user of the machine could use the credentials';

/** The proxy that a capture request names. Its failures are `proxy_failed`. */
export interface Upstream {
  /** Opens a connection to the proxy itself, for requests in absolute form. */
  dial(): Promise<Socket>;
  /** Opens a connection through the proxy to a destination. The proxy looks the name up. */
  tunnel(destination: Destination): Promise<Socket>;
  /** Headers for each request to the proxy: names and values in turn. */
  readonly headers: readonly string[];
  /** Returns a failure when the proxy itself, not the target, answered a request in absolute form; otherwise null. */
  refusalIn(answer: http.IncomingMessage): CapstanError | null;
  /** `what` completes "the proxy example.com:3128 ...". */
  failure(what: string, cause?: unknown): CapstanError;
}

interface UpstreamOptions {
  readonly egressPolicy: EgressPolicy;
  readonly traffic: Traffic;
  readonly peers: PeerCheck;
  /** Time limit for connecting to the proxy, and again for its answer to CONNECT, in milliseconds. */
  readonly timeoutMs: number;
  /** Takes the connection that was opened before the capture had a browser; undefined when there is none. */
  readonly takeDialled: TakeDialled;
}

/** Returns the host and port of a proxy. */
export function proxyDestination({ server }: UpstreamProxy): Destination {
  const { hostname, port } = new URL(server);
  return { host: hostname, port: port === '' ? 80 : Number(port) };
}

/** Rewords the failure to reach a proxy so that it refers to the proxy. */
export function aboutProxy(error: unknown, at: Destination): unknown {
  if (!(error instanceof CapstanError)) return error;
  if (error.code === 'target_forbidden')
    return new CapstanError('target_forbidden', `the proxy: ${error.message}`, { cause: error });
  return error.code === 'target_unreachable' ? proxyFailure(at, `cannot be reached: ${error.message}`, error) : error;
}

function proxyFailure(at: Destination, what: string, cause?: unknown): CapstanError {
  return new CapstanError('proxy_failed', `the proxy ${at.host}:${at.port} ${what}`, { cause });
}

export function createUpstream(
  proxy: UpstreamProxy,
  { egressPolicy, traffic, peers, timeoutMs, takeDialled }: UpstreamOptions,
): Upstream {
  const at = proxyDestination(proxy);
  const headers = proxy.credentials === undefined ? [] : ['Proxy-Authorization', basic(proxy.credentials)];
  const failure = (what: string, cause?: unknown) => proxyFailure(at, what, cause);

  // Another user's request must not be sent with the caller's credentials. The lookup is tested once, before the first
  // connection: a connection that was accepted while it failed may still be open when it works again.
  const isSafe = proxy.credentials === undefined ? true : peers.isReliable();

  const dialProxy = async (): Promise<Socket> => {
    const { signal } = traffic;
    if (!(await isSafe)) throw failure(UNKNOWN_USERS);
    try {
      const taken = takeDialled(at);
      if (taken !== undefined) return taken.socket;
      const addresses = await egressPolicy.addressesOf(at, signal);
      const { socket } = await dial(addresses, { port: at.port, timeoutMs, signal });
      return traffic.hold(socket);
    } catch (error) {
      throw aboutProxy(error, at);
    }
  };

  return {
    headers,
    failure,
    dial: dialProxy,

    async tunnel({ host, port }) {
      const socket = await dialProxy();
      try {
        const status = await askForTunnel(socket, `${host}:${port}`, { headers, timeoutMs });
        if (status >= 200 && status <= 299) return socket;
        throw failure(statusReason(status));
      } catch (error) {
        socket.destroy();
        throw error instanceof CapstanError ? error : failure(noAnswer(error), error);
      }
    },

    refusalIn({ statusCode = 0, headers: answered }) {
      const own = statusCode >= 400 && OWN_ANSWER.some((name) => answered[name] !== undefined);
      return own || FAILURES.has(statusCode) ? failure(statusReason(statusCode)) : null;
    },
  };
}

function basic({ username, password }: NonNullable<UpstreamProxy['credentials']>): string {
  return `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
}

function statusReason(status: number): string {
  if (status === 407) return 'does not accept the credentials, or requires some (407)';
  return `answered ${status} ${STATUS_CODES[status] ?? ''}`.trimEnd();
}

/** Describes the failure of an open connection to the proxy; completes "the proxy ...". */
export function noAnswer(error: unknown): string {
  const code = codeOf(error) ?? '';
  if (code === 'ETIMEDOUT') return 'did not answer in time';
  return code.startsWith('HPE_') ? 'does not answer in HTTP' : 'closed the connection without an answer';
}

interface Asking {
  readonly headers: readonly string[];
  readonly timeoutMs: number;
}

/** Resolves with the status of the answer to CONNECT. Bytes read after the head are put back into the socket. */
function askForTunnel(socket: Socket, authority: string, { headers, timeoutMs }: Asking): Promise<number> {
  return new Promise((resolve, reject) => {
    const request = http.request({
      method: 'CONNECT',
      path: authority,
      headers: ['Host', authority, ...headers],
      setHost: false,
      maxHeaderSize: MAX_HEAD_BYTES,
      createConnection: () => socket,
    });
    const late = setTimeout(() => request.destroy(Object.assign(new Error('late'), { code: 'ETIMEDOUT' })), timeoutMs);
    request.once('connect', ({ statusCode = 0 }, _socket, head) => {
      clearTimeout(late);
      if (head.length > 0) socket.unshift(head);
      resolve(statusCode);
    });
    request.on('error', (error) => {
      clearTimeout(late);
      reject(error);
    });
    request.end();
  });
}
