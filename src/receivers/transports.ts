import type { NewReceiver } from '../capture/work/receiver.ts';
import type { Transport } from './transport.ts';
import { type MessengerParts, openMessenger, readMessengerAddress } from './transports/messengers.ts';
import { type WebhookOptions, webhookTransport } from './transports/webhook.ts';

/** What transports are made of. `keys`: those that sign webhooks. */
export type TransportParts = MessengerParts & Pick<WebhookOptions, 'keys' | 'clock'>;

/** The address of a receiver, read. */
interface ReadAddress {
  /** Host and port; the rest may hold a secret. */
  readonly host: string;
  /** URL to check by the egress policy; null when the connection is checked alone. */
  readonly url: URL | null;
  readonly open: (parts: TransportParts) => Transport;
}

/** Where messages go. */
export type Address = Pick<NewReceiver, 'kind' | 'address'>;

/** Reads an address. Returns what is wrong with it as a text, without what may be secret. */
export function readAddress({ kind, address }: Address): ReadAddress | string {
  if (kind === 'webhook') {
    const url = URL.parse(address);
    if (url === null || !/^https?:$/.test(url.protocol)) return 'must be an http:// or https:// URL';
    return { host: url.host, url, open: (parts) => webhookTransport({ ...parts, url }) };
  }
  const read = readMessengerAddress(kind, address);
  if (typeof read === 'string') return read;
  const url = 'url' in read ? read.url : null;
  const host = url?.host ?? URL.parse(address)?.host ?? kind;
  return { host, url, open: (parts) => openMessenger(read, parts) };
}
