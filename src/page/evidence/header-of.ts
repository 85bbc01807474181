import type { Protocol } from 'devtools-protocol';

/** Returns the value of a header as the protocol reports it; `wanted` is in lower case. */
export function headerOf(headers: Protocol.Network.Headers | undefined, wanted: string): string | undefined {
  return Object.entries(headers ?? {}).find(([name]) => name.toLowerCase() === wanted)?.[1];
}
