import type { Agent as HttpAgent } from 'node:http';
import type { Agent as HttpsAgent } from 'node:https';
import type { Failure } from '../capture/errors.ts';
import type { ExceededLimit } from '../capture/evidence.ts';
import type { UpstreamProxy } from '../capture/options/proxy.ts';

/** The browsers' only way to the network: checks every address, and dials exactly the address it checked. */
export interface Egress {
  /**
   * Whether a URL may be captured: null, or why not (`target_forbidden`). A name is resolved; one that cannot be
   * resolved is not forbidden (the capture will find out). With a proxy it is the proxy's name that is resolved, and of
   * the URL only what it says itself is looked at. Rejects with the signal's reason when it is aborted.
   */
  screen(url: URL, signal: AbortSignal, proxy?: UpstreamProxy): Promise<Failure | null>;

  /** The part of `screen` that needs no look-up: scheme, port, literal addresses, localhost names. */
  screenLiteral(url: URL): Failure | null;

  /** A way out of its own for one slot, so that what goes through it can be told apart. */
  openEgressProxy(): Promise<EgressProxy>;

  /** For requests of the service's own: what they connect to is checked like a browser's. */
  readonly agents: EgressAgents;

  close(): Promise<void>;
}

export interface EgressAgents {
  readonly http: HttpAgent;
  readonly https: HttpsAgent;
}

/** The user "nobody" of Linux and the BSDs, known even where a container maps few users: runs the browsers of root. */
export const NOBODY_UID = 65_534;

/**
 * A forward proxy on a loopback port of its own, used by one capture at a time. Connections are accepted only during a
 * capture, and on Linux only from processes of the service's and the browsers' users.
 */
export interface EgressProxy {
  /** `http://127.0.0.1:<port>`: what a browser context takes as its proxy server. */
  readonly proxyServer: string;

  /**
   * Forgets what was noted, and ends connections of the capture before. From then on everything goes through `proxy`,
   * when there is one, and nothing beside it: what the proxy does not do fails with `proxy_failed`.
   */
  reset(proxy?: UpstreamProxy): void;

  /** Ends the capture: closes its connections, forgets the caller's proxy, and accepts no connection until `reset`. */
  end(): void;

  /** What went wrong on the way to this URL's host and port, in this capture: refused, no such name, no connection. */
  failureFor(url: URL): Failure | null;

  /** The address that was dialled for this URL's host and port in this capture; null when a proxy dialled it. */
  addressFor(url: URL): string | null;

  /** Limits of one capture that this one has exceeded. */
  exceeded(): readonly ExceededLimit[];

  close(): Promise<void>;
}
