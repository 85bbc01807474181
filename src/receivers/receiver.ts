import { createHash } from 'node:crypto';
import type { ReceiverKind, UNKNOWN_KIND } from '../capture/work/receiver.ts';
import type { Pace } from './pace.ts';
import type { Transport } from './transport.ts';

/** A receiver of messages. */
export interface Receiver {
  /** Names it in the store of messages. */
  readonly key: string;
  /** The name that events and answers show. */
  readonly name: string;
  readonly kind: ReceiverKind | typeof UNKNOWN_KIND;
  /** Why its messages are given up at once; null when they are sent. */
  readonly problem: string | null;
  /** Host and port of its address; the rest may hold a secret. */
  readonly host: string;
  readonly pace: Pace;
  readonly transport: Transport;
}

/** Whether the receiver with a key has a name, by which it is listed. */
export function isNamed(key: string): boolean {
  return !key.startsWith(CALLBACKS) && !key.startsWith(WEBHOOKS);
}

/** Begins the keys of all callbacks. */
export const CALLBACKS = 'c.';

/** Begins the keys of the receivers of `--webhook`. */
export const WEBHOOKS = 'w.';

/** Keys of receivers by where they come from. */
export const KEYS = {
  operator: (name: string) => `o.${name}`,
  /** One of `--webhook`. */
  webhook: (url: string) => `${WEBHOOKS}${hashOf(url)}`,
  /** Callbacks of one API key to one server are one receiver. */
  callback: (apiKeyName: string | null, url: string) =>
    `${CALLBACKS}${hashOf(`${apiKeyName} ${URL.parse(url)?.origin}`)}`,
  /** A receiver that a key has given. */
  given: (apiKeyName: string | null, name: string) => `k.${apiKeyName ?? ''}/${name}`,
} as const;

/** Returns the API key and the name in the key of a receiver that a key has given; undefined for other receivers. */
export function givenIn(key: string): { readonly apiKeyName: string | null; readonly name: string } | undefined {
  const [, apiKey = '', name] = /^k\.([^/]*)\/(.+)$/.exec(key) ?? [];
  return name === undefined ? undefined : { apiKeyName: apiKey === '' ? null : apiKey, name };
}

/** Returns the name in the key of a receiver that is not there any more. */
export function nameIn(key: string): string {
  return key.slice(key.lastIndexOf('/') + 1).replace(/^[a-z]\./, '');
}

/** Returns the id of the message that tells a receiver of an event. */
export function messageId(receiver: string, event: string): string {
  return `msg_${hashOf(`${receiver} ${event}`)}`;
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 32);
}
