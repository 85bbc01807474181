import { networkInterfaces } from 'node:os';
import { mappedIpv4, parseAddress } from './address-classes.ts';

/** Whether an address belongs to a network interface of this machine. */
export type OwnAddresses = (address: string) => boolean;

interface OwnAddressesOptions {
  /** Addresses of all network interfaces. */
  readonly read?: () => readonly string[];
  /** Monotonic clock, in milliseconds. */
  readonly now?: () => number;
}

/** Maximum age of the list of interfaces, in milliseconds: no event announces that an interface has changed. */
const MAX_AGE_MS = 1_000;

export function createOwnAddresses({
  read = interfaceAddresses,
  now = () => performance.now(),
}: OwnAddressesOptions = {}): OwnAddresses {
  let addresses: ReadonlySet<string> = new Set();
  let readAt = Number.NEGATIVE_INFINITY;

  return (address) => {
    if (now() - readAt >= MAX_AGE_MS) {
      try {
        addresses = new Set(read().map(canonical));
        readAt = now();
      } catch {
        // A process without a free file descriptor cannot read the interfaces; the last list stays in use.
      }
    }
    return addresses.has(canonical(address));
  };
}

function interfaceAddresses(): readonly string[] {
  return Object.values(networkInterfaces()).flatMap((each = []) => each.map(({ address }) => address));
}

/** Normalises an address to one spelling, without a zone id. */
function canonical(text: string): string {
  const address = parseAddress(text.replace(/%.*$/, ''));
  if (address === null) return text;
  return (mappedIpv4(address) ?? address).toNormalizedString();
}
