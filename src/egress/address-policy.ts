import { embeddedIpv4, type IpAddress, mappedIpv4, matches, nonPublicClass, parseAddress } from './address-classes.ts';
import { createOwnAddresses, type OwnAddresses } from './own-addresses.ts';
import { readTargetList, type TargetEntry, withoutTrailingDot } from './target-list.ts';

export { parseTargetList } from './target-list.ts';

/** What the lists say of a name: closed, open whatever it resolves to, or nothing. */
export type NameVerdict = 'closed' | 'open' | 'unlisted';

/** Which hosts may be dialled. */
export interface TargetPolicy {
  judgeName(name: string): NameVerdict;

  /**
   * Why an address may not be dialled, in words that complete "it is ...", or null when it may. `name` is the verdict
   * on the name that led to it, `unlisted` when the address was given literally.
   */
  refuseAddress(address: string, name: Exclude<NameVerdict, 'closed'>): string | null;
}

export interface TargetPolicyOptions {
  /** Private targets that may be captured all the same: see `parseTargetList`. */
  readonly allow: readonly string[];
  /** Targets that may not be captured although they are public, or although `allow` opens them. */
  readonly deny: readonly string[];
  /** Closed unless allowed, also when they are public. @default the addresses of this machine's interfaces */
  readonly isOwn?: OwnAddresses;
}

/**
 * Open is what is public and does not belong to this machine, and what `allow` names, less what `deny` names: a denied
 * address stays closed even behind an allowed name. Throws an `Error` that names a bad entry.
 */
export function createTargetPolicy({ allow, deny, isOwn = createOwnAddresses() }: TargetPolicyOptions): TargetPolicy {
  const allowed = readTargetList(allow);
  const denied = readTargetList(deny);

  return {
    judgeName(name) {
      const canonical = withoutTrailingDot(name.toLowerCase());
      if (listsName(denied, canonical)) return 'closed';
      return listsName(allowed, canonical) ? 'open' : 'unlisted';
    },

    refuseAddress(text, name) {
      const address = parseAddress(text);
      if (!address) return 'not an address';
      // What is denied stays denied inside a tunnel or behind a translator.
      if ([address, ...embeddedIpv4(address)].some((spelling) => listsAddress(denied, spelling))) {
        return 'closed by the operator of this service';
      }
      if (name === 'open') return null;
      const mapped = mappedIpv4(address);
      if (listsAddress(allowed, address) || (mapped && listsAddress(allowed, mapped))) return null;
      const classOfAddress = nonPublicClass(address) ?? (isOwn(text) ? "this machine's own" : null);
      return classOfAddress && `not public (${classOfAddress})`;
    },
  };
}

function listsName(list: readonly TargetEntry[], name: string): boolean {
  return list.some(
    (entry) => entry.kind === 'name' && (entry.subdomains ? name.endsWith(`.${entry.name}`) : name === entry.name),
  );
}

function listsAddress(list: readonly TargetEntry[], address: IpAddress): boolean {
  return list.some((entry) => entry.kind === 'network' && matches(address, entry.cidr));
}
