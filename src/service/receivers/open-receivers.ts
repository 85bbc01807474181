import { visibleKey } from '../../capture/client.ts';
import { CapstanError } from '../../capture/errors.ts';
import { isIsolated } from '../../capture/named-key.ts';
import { refusal } from '../../capture/validate.ts';
import type { NewReceiver } from '../../capture/work/receiver.ts';
import { ConfigError, readReceivers } from '../../config/mod.ts';
import type { LiveConfig, ReceiversConfig } from '../../config/slices.ts';
import { createTargetPolicy } from '../../egress/address-policy.ts';
import { createEgress } from '../../egress/create-egress.ts';
import type { Lookup } from '../../egress/dns-lookup.ts';
import type { Egress } from '../../egress/egress.ts';
import { createFactsReader } from '../../feed/event-facts.ts';
import { type Addressee, createDispatcher } from '../../receivers/dispatcher.ts';
import { createRegistry } from '../../receivers/registry.ts';
import { sayEvent } from '../../receivers/say-event.ts';
import { readSecret } from '../../receivers/transports/signature.ts';
import { TRANSPORTS } from '../../receivers/transports.ts';
import { isAway } from '../../storage/failures/store-errors.ts';
import type { OpenedParts } from '../opened-parts.ts';
import { manageReceivers } from './manage-receivers.ts';
import { createNoticeSources } from './notice-sources.ts';
import { notifyingQueries } from './notifying-queries.ts';
import { openAlerts } from './open-alerts.ts';
import { shareForNotices } from './share-for-notices.ts';

type ReceiverParts = Pick<OpenedParts, 'feed' | 'storage' | 'events' | 'comparisons' | 'namedKeys' | 'logger'> & {
  readonly toReceivers: ReceiverEgress;
};

export type Receivers = ReturnType<typeof openReceivers>;

const NO_SECRET = 'is not accepted: the service was started without --webhook-secret, which deliveries are signed with';

type EgressConfig = Pick<LiveConfig, 'allowWebhooks' | 'denyTargets' | 'webhookSecret'>;

type ReceiverEgress = ReturnType<typeof openReceiverEgress>;

/**
 * Opens the egress to receivers, which has an egress policy of its own.
 * @throws ConfigError when receivers are configured that would never be sent a message.
 */
export function openReceiverEgress(config: ReceiversConfig & EgressConfig, lookup: Lookup) {
  const policy = createTargetPolicy({ allow: config.allowWebhooks, deny: config.denyTargets });
  const egress = createEgress({ lookup, policy, openedWith: '--allow-webhooks' });
  const operator = readReceivers(config.notify);
  checkReceivers(config, operator, egress);
  return { policy, egress, operator };
}

/** Opens what tells receivers of events. */
export function openReceivers(config: ReceiversConfig, parts: ReceiverParts) {
  const { webhook, webhookSecret, alert, publicUrl, isolateKeys } = config;
  const { toReceivers, feed, storage, events, comparisons, namedKeys, logger } = parts;
  /** Whether API keys share what is stored. */
  const keysShare = () => namedKeys().length > 1;
  const { egress } = toReceivers;
  let keys = webhookSecret.map(readSecret);
  const registry = createRegistry({
    webhooks: keys.length === 0 ? [] : webhook,
    operator: toReceivers.operator,
    alerts: alert,
    given: storage.receivers,
    agents: egress.agents,
    connectToMail: egress.connectToMail,
    keys: () => keys,
    clock: Date.now,
  });
  const { artifacts } = storage;
  const share = shareForNotices(config, storage.sharedLinks, keysShare);
  const sources = createNoticeSources({ artifacts, comparisons, publicUrl, share });
  const isDurable = storage.results.kind !== 'none';
  const matching = notifyingQueries({
    queries: storage.queries,
    factsOf: createFactsReader(),
    keyOf: registry.keyOf,
    seesNow: (name) => {
      if (name === null) return undefined;
      const key = namedKeys().find((one) => one.name === name);
      if (key === undefined) return namedKeys().length === 0 ? undefined : null;
      return visibleKey({ apiKeyName: name, isIsolated: isIsolated(key, isolateKeys) });
    },
  });
  const options = {
    receiverOf: registry.receiverOf,
    keysShare,
    noticeOf: (event: string) => sayEvent(event, sources),
    emit: events.emit,
    clock: Date.now,
    report: (error: unknown) => {
      if (!isAway(error)) logger.error({ err: error }, 'messages could not be delivered');
    },
  };
  const alerts = openAlerts(events.addressed$, registry.alerted, options);
  const dispatcher = createDispatcher({
    ...options,
    source: feed,
    open: storage.openDeliveries,
    addresseesOf: async (logged) => {
      const byQueries = isDurable ? await matching(logged) : [];
      return logged.map((event, at) => onceEach([...registry.addresseesOf(event), ...(byQueries[at] ?? [])]));
    },
    isAlwaysOn: registry.isAlwaysOn,
    isDurable,
    onGap: (gap) => logger.warn({ gap }, 'receivers were not told of events that the log lost'),
  });

  return {
    managed: manageReceivers({
      registry,
      dispatcher,
      egress,
      publicUrl,
      given: storage.receivers,
      open: storage.openDeliveries,
      isSigning: () => keys.length > 0,
    }),
    /**
     * Resolves when a callback may be used; rejects with `invalid_request` or `target_forbidden`, or with the signal's
     * reason.
     */
    admit: async (callback: string, signal: AbortSignal): Promise<void> => {
      if (keys.length === 0) throw refusal([{ path: 'callback', message: NO_SECRET }]);
      const read = TRANSPORTS.webhook.read(callback);
      if (typeof read === 'string') throw refusal([{ path: 'callback', message: read }]);
      const forbidden = read.url && (await egress.screen(read.url, signal));
      if (forbidden !== null) throw new CapstanError(forbidden.code, `callback: ${forbidden.reason}`);
      await dispatcher.activate();
    },
    /** Whether receivers are told how every capture and batch ended. */
    areToldOfAll: webhook.length > 0,
    /**
     * Resolves when all events so far are stored, so that receivers are told of them after a crash too; while the log
     * cannot be written, when an attempt has failed. Never rejects.
     */
    eventsStored: async (): Promise<void> => {
      if (isDurable) await feed.allStored().catch(() => undefined);
    },
    get pending() {
      return dispatcher.pending + alerts.pending;
    },
    egress,
    /** Whether messages are signed is decided at the start. */
    reload: ({ allowWebhooks, denyTargets, webhookSecret: secrets }: EgressConfig): void => {
      toReceivers.policy.replace({ allow: allowWebhooks, deny: denyTargets });
      if (secrets.length > 0 && keys.length > 0) keys = secrets.map(readSecret);
    },
    stop: async (graceMs: number): Promise<void> => {
      await Promise.all([dispatcher.stop(graceMs), alerts.stop(graceMs)]);
    },
  };
}

function onceEach(addressees: readonly Addressee[]): readonly Addressee[] {
  return [...new Map(addressees.map((one) => [`${one.receiver} ${one.url}`, one])).values()];
}

/** @throws ConfigError when receivers would never be sent a message. */
function checkReceivers(
  { webhook, webhookSecret, alert }: ReceiversConfig,
  operator: readonly NewReceiver[],
  egress: Pick<Egress, 'screenLiteral'>,
): void {
  if (webhook.length > 0 && webhookSecret.length === 0) {
    throw new ConfigError('--webhook needs --webhook-secret: deliveries are signed');
  }
  for (const address of webhook) checkAddress('--webhook', { kind: 'webhook', address }, egress);
  for (const { name, kind, address } of operator) {
    if (kind === 'webhook' && webhookSecret.length === 0) {
      throw new ConfigError(`--notify ${name} needs --webhook-secret: deliveries are signed`);
    }
    checkAddress(`--notify ${name}`, { kind, address }, egress);
  }
  const names = operator.map(({ name }) => name);
  if (new Set(names).size < names.length) throw new ConfigError('--notify: two receivers have one name');
  const unknown = alert.find((name) => !names.includes(name));
  if (unknown !== undefined) throw new ConfigError(`--alert ${unknown}: there is no receiver of this name in --notify`);
}

function checkAddress(
  flag: string,
  { kind, address }: Pick<NewReceiver, 'kind' | 'address'>,
  egress: Pick<Egress, 'screenLiteral'>,
): void {
  const read = TRANSPORTS[kind].read(address);
  if (typeof read === 'string') throw new ConfigError(`${flag}: the address ${read}`);
  const forbidden = read.url && egress.screenLiteral(read.url);
  if (forbidden !== null) throw new ConfigError(`${flag} is not allowed: ${forbidden.reason}`);
}
