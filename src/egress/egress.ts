import type { Agent as HttpAgent } from 'node:http';
import type { Agent as HttpsAgent } from 'node:https';
import type { Socket } from 'node:net';
import type { Dialled } from '../capture/dialled.ts';
import type { Failure } from '../capture/errors.ts';
import type { DialCounts } from '../capture/operation/dial-stats.ts';
import type { EgressRefusals } from '../capture/operation/egress-refusals.ts';
import type { UpstreamProxy } from '../capture/options/proxy.ts';
import type { ExceededLimit, NotedTls } from '../capture/result/evidence.ts';
import type { Target } from '../capture/target.ts';

/** The browsers' only access to the network. Checks every address and dials exactly the address that it checked. */
export interface Egress {
  /**
   * Returns why a URL may not be captured (`target_forbidden`), or null. Resolves the URL's host name. A name that
   * cannot be resolved is not forbidden: the capture itself reports that failure. With a proxy, the proxy's name is
   * resolved instead, and the URL's host is checked only when it is a literal address. Rejects with the signal's reason
   * when the signal is aborted.
   */
  screen(url: URL, signal: AbortSignal, proxy?: UpstreamProxy): Promise<Failure | null>;

  /** The part of `screen` that needs no lookup: scheme, port, literal addresses, localhost names. */
  screenLiteral(url: URL): Failure | null;

  /**
   * Resolves with the names in the chain of aliases (CNAME) of a URL's host: none for an address, for a name of the
   * hosts file, or when the name server does not answer within this time. Never rejects.
   */
  aliasesOf(url: URL, withinMs: number): Promise<readonly string[]>;

  /**
   * Connects to a capture's target before it has a browser; its egress proxy then uses the connection (`reset`). If
   * `https` was assumed and nothing answers there, connects over `http`. Rejects with the error that the capture would
   * have in a browser: `target_forbidden`, `target_unreachable`, `proxy_failed`, `capture_timeout`; or with the
   * signal's reason.
   */
  dial(target: DialTarget, signal: AbortSignal): Promise<Dialled>;

  /**
   * Returns the certificate that a URL's host sends when it speaks TLS; null when it does not before the signal is
   * aborted. Never rejects.
   */
  certificateOf(url: URL, signal: AbortSignal): Promise<NotedTls | null>;

  /** Opens a proxy for one slot, so that traffic is attributed to its capture. */
  openEgressProxy(): Promise<EgressProxy>;

  /** Agents for the service's own requests, whose destinations are checked like a browser's. */
  readonly agents: EgressAgents;

  /** The same agents, through the proxy that a request names, by CONNECT. Used until the signal is aborted. */
  agentsThrough(proxy: UpstreamProxy, signal: AbortSignal): EgressAgents;

  /**
   * Connects to a mail server, whose address is checked like any other; the ports of mail are open to it. Rejects with
   * `target_forbidden`, `target_unreachable`, or the signal's reason.
   */
  connectToMail(server: MailServer, signal: AbortSignal): Promise<Socket>;

  /** Counts of the targets that `dial` was called for. */
  readonly dials: DialCounts;

  /** Counts of refusals since the start. */
  readonly refusals: EgressRefusals;

  close(): Promise<void>;
}

/** The target of a capture, and the proxy through which it is reached. */
export interface DialTarget {
  readonly target: Target;
  readonly proxy?: UpstreamProxy | undefined;
  /** Deadline of the capture, in milliseconds from now. */
  readonly timeoutMs: number;
}

interface MailServer {
  /** In the form of a URL's hostname: canonical, with an IPv6 address in brackets. */
  readonly host: string;
  readonly port: number;
}

export interface EgressAgents {
  readonly http: HttpAgent;
  readonly https: HttpsAgent;
}

/**
 * The user id of "nobody" on Linux and the BSDs, valid even in a container that maps few users. The browsers of a
 * service that runs as root run as this user.
 */
export const NOBODY_UID = 65_534;

/**
 * A forward proxy on a loopback port of its own, used by one capture at a time. Connections are accepted only during a
 * capture, and on Linux only from processes of the service's and the browsers' users.
 */
export interface EgressProxy {
  /** `http://127.0.0.1:<port>`, the proxy server of a browser context. */
  readonly proxyServer: string;

  /**
   * Starts a capture: forgets recorded failures and addresses, and ends connections of the previous capture. With
   * `proxy`, all traffic goes through that proxy; its failures are reported as `proxy_failed`. `dialled`: the
   * connection for the first request to the target, or to the proxy; it is closed at the end when no request has used
   * it.
   */
  reset(proxy?: UpstreamProxy, dialled?: Dialled): void;

  /** Ends the capture: closes its connections, forgets the caller's proxy, and accepts no connection until `reset`. */
  end(): void;

  /** Connections that came between `end` and `reset`, and were closed. */
  readonly refused: number;

  /** Returns the failure recorded for this URL's host and port in this capture, or null. */
  failureFor(url: URL): Failure | null;

  /**
   * Returns the address that was dialled for this URL's host and port in this capture; null when a proxy dialled it.
   */
  addressFor(url: URL): string | null;

  /** Returns the limits that this capture has exceeded. */
  exceeded(): readonly ExceededLimit[];

  close(): Promise<void>;
}
