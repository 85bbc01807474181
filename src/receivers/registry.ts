import { z } from 'zod';
import { isTimeZone } from '../capture/basics/time-fields.ts';
import { STORED_LIMITS } from '../capture/stored-limits.ts';
import { isReceiverKind, type NewReceiver, UNKNOWN_KIND } from '../capture/work/receiver.ts';
import type { StoredDelivery } from '../storage/ports/delivery-store.ts';
import type { LoggedEvent } from '../storage/ports/event-log.ts';
import type { GivenReceiver, ReceiverStore } from '../storage/ports/receiver-store.ts';
import type { Addressee } from './dispatcher.ts';
import { CALLBACKS, givenIn, KEYS, type Receiver } from './receiver.ts';
import { refused } from './transports/exchange.ts';
import { TRANSPORTS, type TransportParts } from './transports.ts';

type RegistryOptions = TransportParts & {
  /** URLs that are told how captures and batches ended, and what watches found. */
  readonly webhooks: readonly string[];
  /** The receivers of the operator. */
  readonly operator: readonly NewReceiver[];
  /** Names of those that are told of the condition of the service. */
  readonly alerts: readonly string[];
  readonly given: ReceiverStore;
};

export type Registry = ReturnType<typeof createRegistry>;

/** The stored form of a receiver. Kinds that only a newer version knows are read as unknown. */
const StoredReceiver = z
  .string()
  .transform(parsedJson)
  .pipe(
    z.object({
      kind: z.string().transform((kind) => (isReceiverKind(kind) ? kind : UNKNOWN_KIND)),
      address: z.string(),
      every: z.number().positive().optional(),
      quiet: z.object({ from: z.number(), to: z.number(), timeZone: z.string().refine(isTimeZone) }).optional(),
      maxPerHour: z.number().positive().optional(),
    }),
  );

function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** A receiver that is listed, and whose messages are given up. */
function unusable(key: string, name: string, problem: string): Receiver {
  const end = refused(problem);
  return { key, name, kind: UNKNOWN_KIND, problem, host: '', pace: {}, transport: async () => end };
}

/** Knows the receivers: those of the operator, those that keys have given, and the callbacks of requests. */
export function createRegistry({ webhooks, operator, alerts, given, ...parts }: RegistryOptions) {
  const receiver = (key: string, { name, kind, address, ...pace }: NewReceiver): Receiver => {
    const read = TRANSPORTS[kind].read(address);
    if (typeof read === 'object') {
      return { key, name, kind, problem: null, host: read.host, pace, transport: read.open(parts) };
    }
    // Another version of the service accepted the address: the receiver is listed, and its messages are given up.
    return { ...unusable(key, name, `the address ${read}`), kind, host: URL.parse(address)?.host ?? '', pace };
  };
  const webhook = (key: string, name: string, address: string) => receiver(key, { name, kind: 'webhook', address });
  const everything = webhooks.map((url) => webhook(KEYS.webhook(url), 'webhook', url));
  const named = new Map(operator.map((one) => [one.name, receiver(KEYS.operator(one.name), one)]));
  const fixed = new Map([...everything, ...named.values()].map((one) => [one.key, one]));
  const alerted = alerts.map((name) => ({ receiver: KEYS.operator(name) }));

  /** Receivers that keys have given, by their keys, with their stored form. */
  const opened = new Map<string, { readonly body: string; readonly receiver: Receiver }>();
  const openGiven = ({ apiKeyName, name, body }: GivenReceiver): Receiver => {
    const key = KEYS.given(apiKeyName, name);
    const known = opened.get(key);
    if (known?.body === body) return known.receiver;
    const { data: written } = StoredReceiver.safeParse(body);
    const made =
      written === undefined
        ? unusable(key, name, 'its stored record is damaged')
        : written.kind === UNKNOWN_KIND
          ? unusable(key, name, 'its kind is unknown: a newer version of the service stored it')
          : receiver(key, { ...written, name, kind: written.kind });
    // Names that are given and removed in turn take no more memory than those that are kept.
    if (opened.size >= 2 * STORED_LIMITS.receivers.count) opened.clear();
    opened.set(key, { body, receiver: made });
    return made;
  };
  const givenTo = async (apiKeyName: string | null, name: string): Promise<Receiver | undefined> => {
    const found = await given.get(apiKeyName, name);
    return found && openGiven(found);
  };

  return {
    operator: named,
    alerted,
    openGiven,
    /** Whether events that name no receiver have any. */
    isAlwaysOn: everything.length + alerted.length > 0,
    /** Returns the receiver with a name that an API key may use: its own, or that of the operator. */
    byName: async (apiKeyName: string | null, name: string): Promise<Receiver | undefined> =>
      named.get(name) ?? (await givenTo(apiKeyName, name)),
    /** Returns the receiver of a message; undefined when there is none any more. */
    receiverOf: async ({
      receiver: key,
      url,
    }: Pick<StoredDelivery, 'receiver' | 'url'>): Promise<Receiver | undefined> => {
      if (key.startsWith(CALLBACKS) && url !== undefined) return webhook(key, 'callback', url);
      const ofKey = givenIn(key);
      return ofKey === undefined ? fixed.get(key) : givenTo(ofKey.apiKeyName, ofKey.name);
    },
    /** Returns the receivers that an event names, or that are told of all events of its type. */
    addresseesOf: ({ type, to, ...event }: LoggedEvent): readonly Addressee[] => {
      const apiKey = event.api_key_name ?? null;
      const ofType = type === 'pressure.changed' ? alerted : everything.map(({ key }) => ({ receiver: key }));
      const ofOperator = to === undefined ? [] : ofType;
      const { callback, notify = [] } = to ?? {};
      const called = callback === undefined ? [] : [{ receiver: KEYS.callback(apiKey, callback), url: callback }];
      return [...ofOperator, ...called, ...notify.map((name) => ({ receiver: keyOf(apiKey, name) }))];
    },
    keyOf,
  };

  function keyOf(apiKeyName: string | null, name: string): string {
    return named.has(name) ? KEYS.operator(name) : KEYS.given(apiKeyName, name);
  }
}
