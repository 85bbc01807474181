import http from 'node:http';
import net, { type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Dialled } from '../capture/dialled.ts';
import type { UpstreamProxy } from '../capture/options/proxy.ts';
import type { ExceededLimit } from '../capture/result/evidence.ts';
import { dial } from './dial.ts';
import type { TakeDialled } from './dialled-connection.ts';
import type { EgressProxy } from './egress.ts';
import type { Destination, EgressPolicy } from './egress-policy.ts';
import { createForwardAgent, type ForwardTarget, forwardRequest } from './forward.ts';
import type { PeerCheck } from './peer-users.ts';
import { Traffic, type TrafficLimits } from './traffic.ts';
import { openTunnel, refuseTunnel, tunnelDestination } from './tunnel.ts';
import { createUpstream, type Upstream } from './upstream.ts';

interface EgressProxyOptions {
  readonly egressPolicy: EgressPolicy;
  readonly limits: TrafficLimits;
  /** Time limit for dialling, in milliseconds. */
  readonly dialTimeoutMs: number;
  readonly peers: PeerCheck;
  /** Called with the number of requests, names or bytes that a capture was refused because it exceeded a limit. */
  readonly count?: (limit: ExceededLimit['limit'], refused: number) => void;
}

/** Loopback: only processes of this machine can connect. */
const HOST = '127.0.0.1';
/** Allows long cookies and long URLs. */
const MAX_REQUEST_HEADER_BYTES = 256 * 1024;

/** State of one capture: its traffic, and the connections kept for its next requests. */
interface CaptureConnections {
  readonly traffic: Traffic;
  readonly agent: http.Agent;
  readonly openTunnel: (destination: Destination) => Promise<Socket>;
  /** The proxy that all traffic goes through, when the request names one. */
  readonly upstream: Upstream | null;
}

/** Starts a forward proxy on a free loopback port. */
export async function openEgressProxy({
  egressPolicy,
  limits,
  dialTimeoutMs,
  peers,
  count,
}: EgressProxyOptions): Promise<EgressProxy> {
  let connections = connect();
  let isIdle = false;
  let refused = 0;

  function connect(proxy?: UpstreamProxy, dialled?: Dialled): CaptureConnections {
    const traffic = new Traffic(limits, count);
    traffic.signal.addEventListener('abort', () => dialled?.close(), { once: true });
    const takeDialled: TakeDialled = (destination) => {
      const taken = dialled?.take(destination.host, destination.port);
      if (taken === undefined) return undefined;
      traffic.hold(taken.socket);
      // The operator may have changed the policy while the connection waited.
      if (egressPolicy.allows(destination, taken.address)) return taken;
      taken.socket.destroy();
      return undefined;
    };
    if (proxy !== undefined) return connectThrough(proxy, traffic, takeDialled);
    const open = async (destination: Destination): Promise<Socket> => {
      const { signal } = traffic;
      const taken = takeDialled(destination);
      if (taken !== undefined) {
        traffic.noteAddress(destination, taken.address);
        return taken.socket;
      }
      const addresses = await egressPolicy.addressesOf(destination, signal, traffic.lookups);
      const { socket, address } = await dial(addresses, { port: destination.port, timeoutMs: dialTimeoutMs, signal });
      traffic.noteAddress(destination, address);
      return traffic.hold(socket);
    };
    return { traffic, openTunnel: open, agent: createForwardAgent(open, traffic), upstream: null };
  }

  /** Dials only the caller's proxy. That proxy resolves names, so only literal hosts are checked here. */
  function connectThrough(proxy: UpstreamProxy, traffic: Traffic, takeDialled: TakeDialled): CaptureConnections {
    const upstream = createUpstream(proxy, { egressPolicy, traffic, peers, timeoutMs: dialTimeoutMs, takeDialled });
    const opened = (open: (destination: Destination) => Promise<Socket>) => async (destination: Destination) => {
      egressPolicy.inspect(destination);
      const socket = await open(destination);
      traffic.forgetFailure(destination);
      return socket;
    };
    const agent = createForwardAgent(
      opened(() => upstream.dial()),
      traffic,
    );
    return { traffic, upstream, agent, openTunnel: opened((destination) => upstream.tunnel(destination)) };
  }

  const closeConnections = (): void => {
    connections.traffic.end();
    connections.agent.destroy();
  };

  const server = http.createServer({
    maxHeaderSize: MAX_REQUEST_HEADER_BYTES,
    // The browser decides how long a connection is kept and how long an upload takes. Both end with the capture.
    keepAliveTimeout: 0,
    requestTimeout: 0,
  });
  server.on('clientError', (_error, socket: Duplex) => {
    socket.destroy();
  });
  server.on('request', (request, response) => {
    const { traffic, agent, upstream } = connections;
    const target = forwardTarget(request);
    if (!target) {
      // Browsers send impossible hosts, too. They have no target, so an answer would be mistaken for a page of theirs.
      if (/^http:/i.test(request.url ?? '')) {
        request.socket.destroy();
        return;
      }
      // A request to the proxy itself may be answered, because the answer cannot be mistaken for that of a target.
      response.writeHead(400, { connection: 'close' }).end();
      return;
    }
    forwardRequest(request, response, { ...target, agent, traffic, upstream });
  });
  server.on('connect', (request: http.IncomingMessage, browser: Duplex, head: Buffer) => {
    const { traffic, openTunnel: open } = connections;
    const destination = tunnelDestination(request);
    if (destination) void openTunnel(browser, { destination, head, open, traffic });
    else refuseTunnel(browser, '400 Bad Request');
  });

  // Nothing is read or answered on a connection until its user is known.
  const listener = net.createServer({ allowHalfOpen: true, noDelay: true, pauseOnConnect: true }, async (socket) => {
    const { traffic } = connections;
    traffic.hold(socket);
    if (isIdle) refused += 1;
    const isAllowed = !isIdle && (await peers.isAllowed(socket));
    if (!isAllowed || traffic.signal.aborted) {
      socket.destroy();
      return;
    }
    server.emit('connection', socket);
    socket.resume();
  });
  await new Promise<void>((resolve, reject) => {
    listener.once('error', reject);
    listener.listen(0, HOST, resolve);
  });

  return {
    proxyServer: `http://${HOST}:${portOf(listener)}`,
    reset(proxy, dialled) {
      closeConnections();
      connections = connect(proxy, dialled);
      isIdle = false;
    },
    end() {
      closeConnections();
      connections = connect();
      isIdle = true;
    },
    get refused() {
      return refused;
    },
    failureFor: (url) => connections.traffic.failureFor(urlDestination(url)),
    addressFor: (url) => connections.traffic.addressFor(urlDestination(url)),
    exceeded: () => connections.traffic.exceeded,
    async close() {
      if (!listener.listening) return;
      const closed = new Promise<void>((resolve) => listener.close(() => resolve()));
      closeConnections();
      await closed;
      // Stops the HTTP server's timer. The server has no connections left.
      server.close();
    },
  };
}

function portOf(server: net.Server): number {
  const address = server.address();
  if (address === null || typeof address === 'string')
    throw new TypeError('the egress proxy does not listen on a port');
  return address.port;
}

/** Returns the host and port of a URL. */
export function urlDestination({ protocol, hostname, port }: URL): Destination {
  const standard = protocol === 'https:' || protocol === 'wss:' ? 443 : 80;
  return { host: hostname, port: port === '' ? standard : Number(port) };
}

/** Returns the destination of a plain request, or null when the request is not in absolute form with http:. */
function forwardTarget({ url = '' }: http.IncomingMessage): ForwardTarget | null {
  const [, path] = /^http:\/\/[^/?#\\]*(.*)$/i.exec(url) ?? [];
  const target = path === undefined ? null : URL.parse(url);
  if (!target || path === undefined) return null;
  return {
    destination: urlDestination(target),
    path: path.startsWith('/') ? path : `/${path}`,
    authority: target.host,
  };
}
