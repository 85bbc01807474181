import { setMaxListeners } from 'node:events';
import type { Socket } from 'node:net';
import { CapstanError, type Failure, toFailure } from '../capture/errors.ts';
import {
  type EgressRefusalReason,
  type EgressRefusals,
  noEgressRefusals,
} from '../capture/operation/egress-refusals.ts';
import { parseAddress } from './address-classes.ts';
import type { TargetPolicy } from './address-policy.ts';
import { createEgressAgents } from './agents.ts';
import { type AliasLookup, createAliasLookup } from './aliases.ts';
import { certificateOf } from './certificate.ts';
import { countDials } from './count-dials.ts';
import { dial } from './dial.ts';
import { dialTarget } from './dial-target.ts';
import type { Lookup } from './dns-lookup.ts';
import { type Egress, type EgressProxy, NOBODY_UID } from './egress.ts';
import { createEgressPolicy, type Destination } from './egress-policy.ts';
import { openEgressProxy, urlDestination } from './egress-proxy.ts';
import { createPeerCheck, type PeerCheckOptions } from './peer-users.ts';
import { createResolver } from './resolver.ts';
import { Traffic, type TrafficLimits } from './traffic.ts';
import { aboutProxy, createUpstream, proxyDestination } from './upstream.ts';

/** The limits of traffic apply to each capture. */
export interface EgressOptions extends Partial<TrafficLimits> {
  readonly policy: TargetPolicy;
  /** Name of the option that allows targets that are not public, for error texts. @default '--allow-targets' */
  readonly openedWith?: string;
  /** Resolves names to addresses. @default the hosts file and the system's name servers, see `createDnsLookup` */
  readonly lookup?: Lookup;
  /** Finds the aliases of names. @default the same name servers; with a `lookup` of its own, nothing */
  readonly aliases?: AliasLookup;
  /** Time limit for each lookup and for each connection, in milliseconds. */
  readonly dialTimeoutMs?: number;
  /** Time for which the answer to a lookup is reused, in milliseconds. */
  readonly lookupCacheMs?: number;
  /** User ids whose processes may use the egress proxies. @default the service's and the browsers' user */
  readonly proxyUsers?: readonly number[];
  /** See `PeerCheckOptions`. */
  readonly userLookups?: PeerCheckOptions['lookups'];
  /** See `PeerCheckOptions`. */
  readonly clock?: PeerCheckOptions['clock'];
  readonly warn?: (text: string) => void;
}

/** Much longer than a visitor would wait for a connection. */
const DIAL_TIMEOUT_MS = 10_000;
/** About ten times the traffic of the heaviest public pages. Stops floods. */
const MAX_BYTES = 256 * 1024 * 1024;
const MAX_REQUESTS = 5_000;
const MAX_LOOKUPS = 1_000;

export function createEgress({
  policy,
  openedWith = '--allow-targets',
  lookup,
  aliases = lookup === undefined ? createAliasLookup() : async () => [],
  dialTimeoutMs = DIAL_TIMEOUT_MS,
  lookupCacheMs,
  maxBytes = MAX_BYTES,
  maxRequests = MAX_REQUESTS,
  maxLookups = MAX_LOOKUPS,
  proxyUsers = ownUsers(),
  userLookups,
  clock,
  warn = () => {},
}: EgressOptions): Egress {
  const resolver = createResolver({ lookup, cacheMs: lookupCacheMs, timeoutMs: dialTimeoutMs });
  const refusals: Record<EgressRefusalReason, number> = noEgressRefusals();
  const count = (reason: EgressRefusalReason, refused = 1): void => {
    refusals[reason] += refused;
  };
  const egressPolicy = createEgressPolicy(policy, resolver, openedWith, count);
  const peers = createPeerCheck({
    users: proxyUsers,
    lookups: userLookups,
    clock,
    onUnavailable: () =>
      warn(
        'this system does not report the users of connections: other users of this machine may use the egress proxies, ' +
          'and captures with the credentials of a proxy fail. It is tested again at most once a minute.',
      ),
  });
  const dials = countDials();
  const limits = { maxBytes, maxRequests, maxLookups };
  const egressProxies = new Set<EgressProxy>();
  const closing = new AbortController();
  setMaxListeners(0, closing.signal);

  const open = async (destination: Destination, signal = closing.signal): Promise<Socket> => {
    const addresses = await egressPolicy.addressesOf(destination, signal);
    const { socket } = await dial(addresses, { port: destination.port, timeoutMs: dialTimeoutMs, signal });
    return socket;
  };

  const screenLiteral = (url: URL): Failure | null => {
    if (url.protocol !== 'http:' && url.protocol !== 'https:') {
      count('scheme');
      return toFailure(new CapstanError('target_forbidden', `only http: and https: are captured, not ${url.protocol}`));
    }
    return refusalOf(() => egressPolicy.inspect(urlDestination(url)));
  };

  return {
    screenLiteral,

    async screen(url, signal, proxy) {
      const refusal = screenLiteral(url);
      if (refusal) return refusal;
      try {
        await egressPolicy.addressesOf(proxy === undefined ? urlDestination(url) : proxyDestination(proxy), signal);
        return null;
      } catch (error) {
        signal.throwIfAborted();
        return forbiddenOnly(proxy === undefined ? error : aboutProxy(error, proxyDestination(proxy)));
      }
    },

    async aliasesOf({ hostname }, withinMs) {
      return hostname.startsWith('[') || parseAddress(hostname) !== null ? [] : aliases(hostname, withinMs);
    },

    dial(target, captureSignal) {
      const signal = AbortSignal.any([captureSignal, closing.signal]);
      return dials.count(dialTarget(target, { egressPolicy, dialTimeoutMs, signal }), signal);
    },

    certificateOf: (url, signal) => certificateOf(open, url, AbortSignal.any([signal, closing.signal])),

    get dials() {
      return dials.counts;
    },

    async openEgressProxy() {
      const egressProxy = await openEgressProxy({ egressPolicy, limits, dialTimeoutMs, peers, count });
      const close = egressProxy.close.bind(egressProxy);
      egressProxies.add(egressProxy);
      // A spread would copy what its getters return now.
      return Object.assign(egressProxy, {
        async close() {
          egressProxies.delete(egressProxy);
          await close();
        },
      });
    },

    agents: createEgressAgents(open),

    agentsThrough(proxy, signal) {
      const traffic = new Traffic(limits);
      AbortSignal.any([signal, closing.signal]).addEventListener('abort', () => traffic.end(), { once: true });
      const takeDialled = () => undefined;
      const upstream = createUpstream(proxy, { egressPolicy, traffic, peers, timeoutMs: dialTimeoutMs, takeDialled });
      return createEgressAgents(async (destination) => {
        egressPolicy.inspect(destination);
        return upstream.tunnel(destination);
      });
    },

    connectToMail: ({ host, port }, signal) =>
      open({ host, port, isForMail: true }, AbortSignal.any([signal, closing.signal])),

    get refusals(): EgressRefusals {
      return { ...refusals };
    },

    async close() {
      closing.abort(new CapstanError('cancelled', 'The egress is closed.'));
      await Promise.all([...egressProxies].map((egressProxy) => egressProxy.close()));
      await peers.close();
    },
  };
}

/** Returns the service's user id and the browsers'; the two differ when the service runs as root. */
function ownUsers(): readonly number[] {
  const own = process.getuid?.();
  if (own === undefined) return [];
  return own === 0 ? [own, NOBODY_UID] : [own];
}

function refusalOf(inspect: () => void): Failure | null {
  try {
    inspect();
    return null;
  } catch (error) {
    return forbiddenOnly(error);
  }
}

/** Returns null for other failures: a name that cannot be resolved, for example, is not forbidden. */
function forbiddenOnly(error: unknown): Failure | null {
  if (!(error instanceof CapstanError)) throw error;
  return error.code === 'target_forbidden' ? toFailure(error) : null;
}
