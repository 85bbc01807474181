import type { EgressRefusalReason } from '../capture/operation/egress-refusals.ts';
import { embeddedIpv4, type IpAddress, mappedIpv4, matches, nonPublicClass, parseAddress } from './address-classes.ts';
import { createOwnAddresses, type OwnAddresses } from './own-addresses.ts';
import { readTargetList, type TargetEntry, withoutTrailingDot } from './target-list.ts';

export { parseTargetList } from './target-list.ts';

/** Result of matching a name against the lists: `closed` is denied, `open` is allowed, `unlisted` is in neither. */
type NameVerdict = 'closed' | 'open' | 'unlisted';

/** `address`: it is not public. `denied`: the operator has closed it. `reason` completes "it is ...". */
interface AddressRefusal {
  readonly by: Extract<EgressRefusalReason, 'address' | 'denied'>;
  readonly reason: string;
}

/** Decides which hosts may be dialled. */
export interface TargetPolicy {
  judgeName(name: string): NameVerdict;

  /**
   * Returns why an address may not be dialled, or null when it may be dialled. `name` is the verdict on the name that
   * resolved to the address; `unlisted` for a literal address.
   */
  refuseAddress(address: string, name: Exclude<NameVerdict, 'closed'>): AddressRefusal | null;
}

/** A policy whose lists may be replaced while it is in use; connections that are open stay. */
export interface LiveTargetPolicy extends TargetPolicy {
  /** @throws Error that names an invalid entry; the lists in force then stay. */
  replace(lists: Pick<TargetPolicyOptions, 'allow' | 'deny'>): void;
}

interface TargetPolicyOptions {
  /** Private targets that may be captured: see `parseTargetList`. */
  readonly allow: readonly string[];
  /** Targets that may not be captured, even if they are public or allowed. */
  readonly deny: readonly string[];
  /** Tells which addresses are this machine's own; they are refused unless allowed. @default those of its interfaces */
  readonly isOwn?: OwnAddresses;
}

/**
 * Creates a policy that permits public addresses outside this machine and all targets in `allow`, except those in
 * `deny`: a denied address is refused even when an allowed name resolves to it.
 * @throws Error that names an invalid entry.
 */
export function createTargetPolicy({ isOwn = createOwnAddresses(), ...lists }: TargetPolicyOptions): LiveTargetPolicy {
  let { allowed, denied } = readLists(lists);

  return {
    judgeName(name) {
      const canonical = withoutTrailingDot(name.toLowerCase());
      if (listsName(denied, canonical)) return 'closed';
      return listsName(allowed, canonical) ? 'open' : 'unlisted';
    },

    refuseAddress(text, name) {
      const address = parseAddress(text);
      if (!address) return { by: 'denied', reason: 'not an address' };
      // A denied IPv4 address stays denied inside a tunnel or translation address.
      if ([address, ...embeddedIpv4(address)].some((spelling) => listsAddress(denied, spelling))) {
        return { by: 'denied', reason: 'closed by the operator of this service' };
      }
      if (name === 'open') return null;
      const mapped = mappedIpv4(address);
      if (listsAddress(allowed, address) || (mapped && listsAddress(allowed, mapped))) return null;
      const classOfAddress = nonPublicClass(address) ?? (isOwn(text) ? "this machine's own" : null);
      return classOfAddress === null ? null : { by: 'address', reason: `not public (${classOfAddress})` };
    },

    replace(next) {
      ({ allowed, denied } = readLists(next));
    },
  };
}

function readLists({ allow, deny }: Pick<TargetPolicyOptions, 'allow' | 'deny'>) {
  return { allowed: readTargetList(allow), denied: readTargetList(deny) };
}

function listsName(list: readonly TargetEntry[], name: string): boolean {
  return list.some(
    (entry) => entry.kind === 'name' && (entry.subdomains ? name.endsWith(`.${entry.name}`) : name === entry.name),
  );
}

function listsAddress(list: readonly TargetEntry[], address: IpAddress): boolean {
  return list.some((entry) => entry.kind === 'network' && matches(address, entry.cidr));
}
