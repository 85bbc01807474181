import { firstValueFrom } from 'rxjs';
import type { MessageFailureCause } from '../capture/events.ts';
import { createWorkInTurn } from '../fairness/work-in-turn.ts';
import type { DeliveryStore, NewDelivery } from '../storage/ports/delivery-store.ts';
import { Channel, type ChannelOptions } from './channel.ts';
import { endOf } from './messages.ts';
import { RETRY_TIMES, type RetryTimes } from './retry-times.ts';

export interface DeliveryOptions
  extends Pick<ChannelOptions, 'receiverOf' | 'noticeOf' | 'emit' | 'clock' | 'report' | 'upTo'> {
  readonly times?: RetryTimes | undefined;
  /** Maximum number of messages that one receiver is sent at once. */
  readonly atOnce?: number | undefined;
  /** Whether API keys share the places. */
  readonly keysShare: () => boolean;
}

/** Receivers are ordinary web services: 4 concurrent messages are fast enough, and 40 would overload many. */
const AT_ONCE = 4;
const AT_ONCE_IN_ALL = 64;
/** For people, messages have images, which are in memory while they are sent: up to 9 MiB each. */
const WITH_IMAGES_AT_ONCE = 8;
/** Time for which dead letters are kept, in milliseconds, and the interval at which they are removed. */
const DEAD_LIFE_MS = 7 * 24 * 3_600_000;
const PRUNE_MS = 3_600_000;
const RESCAN_MS = 15_000;

export type Delivery = Awaited<ReturnType<typeof startDelivery>>;

/** Delivers the messages of a store, which no other process delivers meanwhile. */
export async function startDelivery(store: DeliveryStore, options: DeliveryOptions) {
  const { receiverOf, emit, clock, report, times = RETRY_TIMES, atOnce = AT_ONCE, keysShare } = options;
  const channels = new Map<string, Channel>();
  const ending = new AbortController();
  const withoutImages = createWorkInTurn(AT_ONCE_IN_ALL, true);
  const withImages = createWorkInTurn(WITH_IMAGES_AT_ONCE, true);
  const inTurn: ChannelOptions['inTurn'] = ({ key, kind }, apiKeyName, send) => {
    const turns = kind === 'webhook' ? withoutImages : withImages;
    return firstValueFrom(turns.run(keysShare() ? apiKeyName : null, send, key));
  };
  let pending = 0;
  let isEnding = false;
  let rested: (() => void) | undefined;
  /** Resolved when sending may not go on. */
  const allowed = Promise.withResolvers<void>();
  let ended: Promise<void> | undefined;

  const restIfAll = (): void => {
    if ([...channels.values()].every((channel) => !channel.isBusy)) rested?.();
  };
  const channelOf = (key: string): Channel => {
    const known = channels.get(key);
    if (known !== undefined) return known;
    const channel = new Channel({
      ...options,
      ...{ key, store, times, atOnce, inTurn, signal: ending.signal, isEnding: () => isEnding },
      onEnded: (messages) => {
        pending = Math.max(0, pending - messages);
      },
      onRest: (isEmpty) => {
        if (isEmpty && channels.get(key) === channel) channels.delete(key);
        restIfAll();
      },
    });
    channels.set(key, channel);
    return channel;
  };
  /** Ends sending, when there is no more to send at once or no more time. */
  const end = async (): Promise<void> => {
    clearInterval(pruning);
    clearInterval(rescans);
    rested = () => {
      if (store.isDurable || channels.size === 0) allowed.resolve();
    };
    restIfAll();
    await allowed.promise;
    ending.abort();
    for (const channel of channels.values()) channel.stop();
    await new Promise<void>((resolve) => {
      rested = resolve;
      restIfAll();
    });
    if (!store.isDurable) await giveUpAll();
  };
  /** Reports the failure of a message that is not sent again. */
  const giveUp = async (
    delivery: NewDelivery,
    attempts: number,
    failure: { readonly cause: MessageFailureCause; readonly reason: string },
  ): Promise<void> => {
    // A receiver that cannot be opened must not hold up those of others.
    const receiver = (await receiverOf(delivery).catch(() => undefined)) ?? { name: '', host: '' };
    emit(endOf({ ...delivery, attempts }, receiver, { isDelivered: false, ...failure, status: null }, clock()));
  };
  /** Reports the messages that are lost with the process. */
  const giveUpAll = async (): Promise<void> => {
    const failure = { cause: 'shutting_down', reason: 'the service was stopped' } as const;
    for (const [key, limit] of await store.waiting()) {
      for (const delivery of await store.next(key, { exceptLanes: [], upTo: Number.MAX_SAFE_INTEGER, limit })) {
        await giveUp(delivery, delivery.attempts, failure);
      }
    }
  };
  /** Finds the messages that wait: at the start, and those that another process lets wait again. */
  const scan = async (): Promise<void> => {
    const found = await store.waiting();
    pending = [...found.values()].reduce((sum, count) => sum + count, 0);
    for (const key of found.keys()) if (!channels.has(key)) channelOf(key).wake();
  };
  await scan();
  const rescans = setInterval(() => void scan().catch(report), RESCAN_MS).unref();
  const prune = (): void => void store.prune(clock() - DEAD_LIFE_MS).catch(report);
  const pruning = setInterval(prune, PRUNE_MS).unref();
  prune();

  return {
    /** Number of messages that wait or are being sent. */
    get pending() {
      return pending;
    },
    /** Stores messages. Resolves when they are stored, and `send` may be called. */
    add: async (deliveries: readonly NewDelivery[]): Promise<void> => {
      const dropped = await store.add(deliveries, keysShare());
      pending += deliveries.length - dropped.length;
      for (const [key, ofReceiver] of Map.groupBy(dropped, ({ receiver }) => receiver)) {
        await channelOf(key).dropped(ofReceiver.length);
        const reason = 'Too many messages were waiting for this receiver, or of this API key.';
        for (const delivery of ofReceiver) await giveUp(delivery, 0, { cause: 'dropped', reason });
      }
    },
    /** Begins to send what waits for receivers. */
    send: (receivers: Iterable<string>): void => {
      for (const key of new Set(receivers)) channelOf(key).wake();
    },
    /** Looks at the clock again. */
    wake: (): void => {
      for (const channel of channels.values()) channel.wake();
    },
    /**
     * Sends what can be sent at once, for at most `graceMs` milliseconds, then ends what is being sent. The rest is
     * delivered after the next start. With a store that ends with the process it is lost, so that retries are waited
     * for too. May be called again with less time.
     */
    stop: async (graceMs: number): Promise<void> => {
      isEnding = store.isDurable;
      const over = setTimeout(allowed.resolve, graceMs);
      ended ??= end();
      await ended;
      clearTimeout(over);
    },
  };
}
