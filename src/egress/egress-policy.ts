import { CapstanError } from '../capture/errors.ts';
import type { EgressRefusalReason } from '../capture/operation/egress-refusals.ts';
import { parseAddress } from './address-classes.ts';
import type { TargetPolicy } from './address-policy.ts';
import type { LookupQueue, Resolver } from './resolver.ts';
import { restrictedPort } from './restricted-ports.ts';
import { withoutTrailingDot } from './target-list.ts';

/** Host and port of a requested connection. */
export interface Destination {
  /** In the form of a URL's hostname: canonical, with an IPv6 address in brackets. */
  readonly host: string;
  readonly port: number;
  /** The connection is for mail, whose ports browsers refuse to open. */
  readonly isForMail?: true;
}

/** The single check of every connection, by name, port and address. `Egress` checks the scheme of a page's URL. */
export interface EgressPolicy {
  /** Throws `target_forbidden` for a refusal without a lookup: port, literal address, localhost or denied name. */
  inspect(destination: Destination): void;

  /** Whether an address that `addressesOf` has returned earlier may still be used for a destination. */
  allows(destination: Destination, address: string): boolean;

  /**
   * Resolves with the addresses that may be dialled for a destination, at least one. Throws `target_forbidden` when any
   * of its addresses is refused, `target_unreachable` when it has none, or the signal's reason. A lookup waits its turn
   * in `lookups`.
   */
  addressesOf(destination: Destination, signal: AbortSignal, lookups?: LookupQueue): Promise<readonly string[]>;
}

/** RFC 6761: localhost names stand for this machine, so no name server is asked for them. */
const LOOPBACK_ADDRESSES = ['127.0.0.1', '::1'];

/** Transfer, submission over TLS, submission (RFC 5321, RFC 8314). */
const MAIL_PORTS = [25, 465, 587];

/** `openedWith`: name of the option that allows non-public addresses, for error texts. `count`: counts a refusal. */
export function createEgressPolicy(
  policy: TargetPolicy,
  resolver: Resolver,
  openedWith: string,
  count: (reason: EgressRefusalReason) => void = () => {},
): EgressPolicy {
  const forbidden = (by: EgressRefusalReason, reason: string): CapstanError => {
    count(by);
    const hint = by === 'address' ? `; to allow it, set ${openedWith}` : '';
    return new CapstanError('target_forbidden', `${reason}${hint}`);
  };

  /** Returns the addresses of a literal host or localhost; null when a name server must be asked. */
  const inspect = ({ host, port, isForMail }: Destination): readonly string[] | null => {
    const service = restrictedPort(port);
    if (service !== null && !(isForMail && MAIL_PORTS.includes(port)))
      throw forbidden('port', `port ${port} (${service}) is not allowed: browsers refuse to open it`);

    const address = unbracketed(host);
    if (parseAddress(address)) {
      const refusal = policy.refuseAddress(address, 'unlisted');
      if (refusal !== null) throw forbidden(refusal.by, `${address} is ${refusal.reason}`);
      return [address];
    }
    const verdict = policy.judgeName(host);
    if (verdict === 'closed') throw forbidden('denied', `${host} is closed by the operator of this service`);
    if (!isLocalhost(host)) return null;
    const open = LOOPBACK_ADDRESSES.filter((loopback) => policy.refuseAddress(loopback, verdict) === null);
    if (open.length === 0) throw forbidden('address', `${host} is not public (loopback)`);
    return open;
  };

  return {
    inspect(destination) {
      inspect(destination);
    },

    allows({ host }, address) {
      const verdict = policy.judgeName(host);
      return verdict !== 'closed' && policy.refuseAddress(address, verdict) === null;
    },

    async addressesOf(destination, signal, lookups) {
      const { host } = destination;
      const known = inspect(destination);
      if (known) return known;
      const verdict = policy.judgeName(host);
      const addresses = await resolver.resolve(host, signal, lookups);
      for (const address of addresses) {
        const refusal = policy.refuseAddress(address, verdict === 'open' ? 'open' : 'unlisted');
        // The error does not contain the address: clients must not learn to which address a private name resolves.
        if (refusal !== null) throw forbidden(refusal.by, `${host} resolves to an address that is ${refusal.reason}`);
      }
      return addresses;
    },
  };
}

export function isLocalhost(host: string): boolean {
  const name = withoutTrailingDot(host.toLowerCase());
  return name === 'localhost' || name.endsWith('.localhost');
}

/** Returns the host of a URL without the brackets of an IPv6 address. */
export function unbracketed(host: string): string {
  return host.startsWith('[') && host.endsWith(']') ? host.slice(1, -1) : host;
}
