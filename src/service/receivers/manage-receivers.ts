import type { Client } from '../../capture/client.ts';
import { CapstanError } from '../../capture/errors.ts';
import { refusal } from '../../capture/validate.ts';
import {
  type DeadLetter,
  type NewReceiver,
  quietText,
  type ReceiverAnswer,
  type ReceiverTest,
} from '../../capture/work/receiver.ts';
import type { Egress } from '../../egress/egress.ts';
import { sampleNotice } from '../../receivers/digest-notice.ts';
import type { Dispatcher } from '../../receivers/dispatcher.ts';
import { CALLBACKS, KEYS, type Receiver, WEBHOOKS } from '../../receivers/receiver.ts';
import { endOfAttempt, readState } from '../../receivers/receiver-state.ts';
import type { Registry } from '../../receivers/registry.ts';
import { TRANSPORTS } from '../../receivers/transports.ts';
import type { DeadWanted, DeliveryStore, LetterPlace, StoredDelivery } from '../../storage/ports/delivery-store.ts';
import type { Page } from '../../storage/ports/document-store.ts';
import type { ReceiverStore } from '../../storage/ports/receiver-store.ts';

interface ReceiverManagement {
  readonly registry: Registry;
  readonly dispatcher: Dispatcher;
  readonly given: ReceiverStore;
  readonly open: () => DeliveryStore;
  readonly egress: Pick<Egress, 'screen'>;
  readonly publicUrl: string | null;
  /** Whether messages can be signed. */
  readonly isSigning: () => boolean;
}

/** The caller of an operation. `ofKey`: the key whose dead letters it sees; undefined for all, null for none. */
type ReceiverCaller = Pick<Client, 'apiKeyName' | 'owner'> & { readonly ofKey: string | null | undefined };

/** A receiver to answer. `apiKeyName`: of the key that gave it; null without a named key, and of the operator. */
interface Shown {
  readonly receiver: Receiver;
  readonly apiKeyName: string | null;
}

export type ManagedReceivers = ReturnType<typeof manageReceivers>;

const TEST_MS = 20_000;
/** Maximum number of dead letters that are sent again together. */
const REVIVED_TOGETHER = 1000;

/** Returns the operations of clients on receivers: give, list, test and remove them, and send dead letters again. */
export function manageReceivers(parts: ReceiverManagement) {
  const { registry, dispatcher, given, open, egress, publicUrl, isSigning } = parts;

  const found = async (name: string, { apiKeyName }: Pick<Client, 'apiKeyName'>): Promise<Receiver> =>
    (await registry.byName(apiKeyName, name)) ?? unknown(name);
  const deadOf = async (name: string, caller: ReceiverCaller): Promise<DeadWanted | undefined> => {
    const { ofKey } = caller;
    const groups: Readonly<Record<string, string>> = { callback: CALLBACKS, webhook: WEBHOOKS };
    const group = groups[name];
    const receiver = group ?? (await found(name, caller)).key;
    return ofKey === null ? undefined : { receiver, isPrefix: group !== undefined, ofKey };
  };
  const answersOf = async (shown: readonly Shown[], caller: ReceiverCaller): Promise<readonly ReceiverAnswer[]> => {
    const { ofKey } = caller;
    const none: ReadonlyMap<string, number> = new Map();
    const store = open();
    const [waiting, dead, states] = await Promise.all([
      ofKey === null ? none : store.waiting(ofKey),
      ofKey === null ? none : store.buried(ofKey),
      store.states(shown.map(({ receiver }) => receiver.key)),
    ]);
    return shown.map(({ receiver: { key, name, kind, problem, host, pace }, apiKeyName }) => {
      const isOperator = registry.operator.get(name)?.key === key;
      return {
        ...{ name, kind, problem, host, is_operator: isOperator },
        ...(apiKeyName !== null && { api_key_name: apiKeyName }),
        every_ms: pace.every ?? null,
        quiet: pace.quiet === undefined ? null : quietText(pace.quiet),
        max_per_hour: pace.maxPerHour ?? null,
        is_own: !isOperator && apiKeyName === caller.apiKeyName,
        waiting: waiting.get(key) ?? 0,
        dead: dead.get(key) ?? 0,
        // With isolated keys, how the message of another key ended is no business of this one.
        last: isOperator && caller.ofKey !== undefined ? null : (readState(states.get(key)).last ?? null),
      };
    });
  };
  const one = async (shown: Shown, caller: ReceiverCaller): Promise<ReceiverAnswer> =>
    (await answersOf([shown], caller))[0] ?? unknown(shown.receiver.name);
  const revive = async (name: string, caller: ReceiverCaller, limit: number, id?: string): Promise<number> => {
    const wanted = await deadOf(name, caller);
    if (wanted === undefined) return 0;
    const receivers = await open().revive(wanted, { limit, ...(id !== undefined && { id }) });
    dispatcher.delivery?.send(receivers);
    return receivers.length;
  };

  return {
    /** Rejects with `invalid_request` for a name that is unknown to the key. */
    admitNames: async (names: readonly string[], apiKeyName: string | null): Promise<void> => {
      if (names.length === 0) return;
      for (const [at, name] of names.entries()) {
        if ((await registry.byName(apiKeyName, name)) !== undefined) continue;
        throw refusal([{ path: `notify[${at}]`, message: `must be the name of a receiver, and there is no ${name}` }]);
      }
      await dispatcher.activate();
    },
    /** Rejects with `invalid_request`, `target_forbidden` or `too_many_receivers`. */
    add: async (wanted: NewReceiver, caller: ReceiverCaller): Promise<ReceiverAnswer> => {
      const { apiKeyName, owner } = caller;
      const { name, kind, address } = wanted;
      const read = TRANSPORTS[kind].read(address);
      if (typeof read === 'string') throw refusal([{ path: 'address', message: read }]);
      if (kind === 'webhook' && !isSigning()) {
        const message = 'is not accepted: the service was started without --webhook-secret';
        throw refusal([{ path: 'kind', message }]);
      }
      const forbidden = read.url && (await egress.screen(read.url, AbortSignal.timeout(TEST_MS)));
      if (forbidden !== null) throw new CapstanError(forbidden.code, `address: ${forbidden.reason}`);
      const taken = { path: 'name', message: `is the name of another receiver: ${name}` };
      if (registry.operator.has(name)) throw refusal([taken]);
      const receiver = { apiKeyName, name, body: JSON.stringify(wanted) };
      if (!(await given.add(receiver, owner !== null))) throw refusal([taken]);
      return one({ receiver: await found(name, caller), apiKeyName }, caller);
    },
    /** Returns the receivers that the caller may name, those of the operator first. */
    list: async (caller: ReceiverCaller): Promise<readonly ReceiverAnswer[]> => {
      const own = caller.ofKey === null ? [] : await given.list(caller.ofKey);
      const ofOperator = [...registry.operator.values()].map((receiver) => ({ receiver, apiKeyName: null }));
      const ofKeys = own.map((one) => ({ receiver: registry.openGiven(one), apiKeyName: one.apiKeyName }));
      return answersOf([...ofOperator, ...ofKeys], caller);
    },
    get: async (name: string, caller: ReceiverCaller): Promise<ReceiverAnswer> => {
      const apiKeyName = registry.operator.has(name) ? null : caller.apiKeyName;
      return one({ receiver: await found(name, caller), apiKeyName }, caller);
    },
    /** Removes a receiver that the key has given, and what waits for it. */
    remove: async (name: string, { apiKeyName }: ReceiverCaller): Promise<void> => {
      if (!(await given.remove(apiKeyName, name))) unknown(name);
      await open().removeReceiver(KEYS.given(apiKeyName, name));
    },
    /** Sends a message for a test. */
    test: async (name: string, caller: ReceiverCaller): Promise<ReceiverTest> => {
      const receiver = await found(name, caller);
      const at = new Date().toISOString();
      const event = { v: 1, type: 'test', at, text: 'A test message.' };
      const message = {
        id: `msg_test_${crypto.randomUUID()}`,
        body: JSON.stringify(event),
        notice: async () => sampleNotice(name, publicUrl),
      };
      const attempt = await receiver.transport(message, AbortSignal.timeout(TEST_MS));
      return endOfAttempt(attempt);
    },
    /** Returns dead letters that follow `after`, oldest first. `name` may be `callback` or `webhook`. */
    dead: async (
      name: string,
      caller: ReceiverCaller,
      limit: number,
      after?: LetterPlace,
    ): Promise<Page<DeadLetter>> => {
      const wanted = await deadOf(name, caller);
      if (wanted === undefined) return { items: [], isCut: false };
      const { items, isCut } = await open().dead(wanted, limit, after);
      return { items: items.map(letterOf), isCut };
    },
    /** Sends a dead letter again. */
    retry: async (name: string, id: string, caller: ReceiverCaller): Promise<void> => {
      if ((await revive(name, caller, 1, id)) > 0) return;
      throw new CapstanError('not_found', `There is no dead letter ${id} of the receiver ${name}.`);
    },
    /** Sends all dead letters again, and returns their number. */
    retryAll: (name: string, caller: ReceiverCaller): Promise<number> => revive(name, caller, REVIVED_TOGETHER),
  };
}

function unknown(name: string): never {
  throw new CapstanError('not_found', `There is no receiver with the name ${name}.`);
}

function letterOf({ id, about, createdAt, attempts, reason, status, position, event }: StoredDelivery): DeadLetter {
  return {
    id,
    about,
    at: new Date(createdAt).toISOString(),
    attempts,
    reason,
    status,
    position,
    event: JSON.parse(event),
  };
}
