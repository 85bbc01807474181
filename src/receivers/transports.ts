import type { ReceiverKind } from '../capture/receiver.ts';
import type { EgressAgents } from '../egress/egress.ts';
import type { Transport } from './transport.ts';
import { webhookTransport } from './transports/webhook.ts';

/** What transports are made of. */
export interface TransportParts {
  readonly agents: EgressAgents;
  /** Returns the keys that sign webhooks. */
  readonly keys: () => readonly Buffer[];
  /** Milliseconds since 1970. */
  readonly clock: () => number;
  /** Time limit for an attempt, in milliseconds. */
  readonly timeoutMs?: number | undefined;
}

interface TransportKind {
  /** Schemes of its addresses. */
  readonly schemes: readonly string[];
  /** Whether messages are signed with `--webhook-secret`. */
  readonly isSigned: boolean;
  readonly open: (address: URL, parts: TransportParts) => Transport;
}

export const TRANSPORTS: Readonly<Record<ReceiverKind, TransportKind>> = {
  webhook: {
    schemes: ['http:', 'https:'],
    isSigned: true,
    open: (url, parts) => webhookTransport({ url, ...parts }),
  },
};

/** Returns why an address is none of its kind; undefined when it is one. */
export function problemOfAddress(kind: ReceiverKind, address: string): string | undefined {
  const { schemes } = TRANSPORTS[kind];
  if (schemes.includes(URL.parse(address)?.protocol ?? '')) return undefined;
  return `must be a URL with ${schemes.map((scheme) => `${scheme}//`).join(' or ')}`;
}
