import type { DeliveryStore, NewDelivery } from '../storage/ports/delivery-store.ts';
import { GAP, type LoggedEvent } from '../storage/ports/event-log.ts';
import type { HeldLock } from '../storage/ports/lock.ts';
import { type Delivery, type DeliveryOptions, startDelivery } from './delivery.ts';
import { factsOf } from './messages.ts';
import { messageId } from './receiver.ts';

/** The log of events, as the dispatcher reads it. */
export interface EventSource {
  readonly started: Promise<void>;
  readonly newest: number;
  listen(listener: { events(events: readonly LoggedEvent[]): void; end(): void }): () => void;
  read(cursor: number, limit: number): EventPage | Promise<EventPage>;
  publishedStored(): Promise<void>;
}

interface EventPage {
  readonly events: readonly LoggedEvent[];
  readonly cursor: number;
  readonly live: boolean;
}

/** A receiver to tell of an event. */
export interface Addressee {
  readonly receiver: string;
  /** Address, for receivers that only the event names. */
  readonly url?: string | undefined;
}

export interface DispatcherOptions extends Omit<DeliveryOptions, 'upTo'> {
  readonly source: EventSource;
  /** Opens the store, once. */
  readonly open: () => DeliveryStore;
  /** Returns the receivers to tell of each event. */
  readonly addresseesOf: (events: readonly LoggedEvent[]) => Promise<readonly (readonly Addressee[])[]>;
  /** Whether there are receivers of events that name none. */
  readonly isAlwaysOn: boolean;
  /** Whether a database keeps the messages. */
  readonly isDurable: boolean;
  /** Called when the log lacks events that receivers were not told of. */
  readonly onGap: (gap: string) => void;
}

/** Events in each page that is read. */
const PAGE = 200;
/** Time for which events are gathered, in milliseconds. */
const GATHER_MS = 10;
/** Interval of attempts to become the process that delivers, and of attempts after a failure, in milliseconds. */
const TAKEOVER_MS = 2_000;
const RETRY_MS = 500;
/** The position is stored after this many events that nobody was told of. */
const UNTOLD_EVENTS = 5_000;

export type Dispatcher = ReturnType<typeof createDispatcher>;

/**
 * Reads the log from a stored position, and stores a message for each receiver of an event before it moves the
 * position. Of several processes, one does this. Without any receiver, nothing is read and nothing runs.
 */
export function createDispatcher(options: DispatcherOptions) {
  const { source, open, addresseesOf, isAlwaysOn, isDurable, onGap, report } = options;
  let store: DeliveryStore | undefined;
  let lock: HeldLock | undefined;
  let delivery: Delivery | undefined;
  let cursor: number | undefined;
  let activated: Promise<void> | undefined;
  let untold = 0;
  let isNews = false;
  let passing: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;
  let isStopped = false;

  const unlisten = source.listen({
    events: (events) => {
      // In a cluster, another node may have given the first receiver.
      if (activated === undefined && events.some(({ to }) => to !== undefined && namesAny(to)))
        void activate().catch(report);
      if (activated !== undefined) plan(GATHER_MS);
    },
    end: () => {},
  });

  const plan = (ms: number): void => {
    isNews = true;
    if (isStopped || timer !== undefined || passing !== undefined) return;
    timer = setTimeout(() => {
      timer = undefined;
      void pass();
    }, ms).unref();
  };

  /** Dispatches what is new. Never rejects. */
  const pass = (): Promise<void> => {
    passing ??= passOnce().then((againMs) => {
      passing = undefined;
      if (againMs !== undefined) plan(againMs);
      else if (isNews) plan(GATHER_MS);
    });
    return passing;
  };

  /** Resolves with the time after which to try again, if there is any reason. */
  const passOnce = async (): Promise<number | undefined> => {
    try {
      while (isNews) {
        if (!(await holds())) return TAKEOVER_MS;
        isNews = false;
        await dispatch();
      }
      return undefined;
    } catch (error) {
      report(error);
      return RETRY_MS;
    }
  };

  /** Returns whether this process delivers. */
  const holds = async (): Promise<boolean> => {
    store ??= open();
    if (lock?.isHeld === true && delivery !== undefined) return true;
    if (lock !== undefined) await release(0);
    lock = await store.lock();
    if (lock === undefined) return false;
    cursor = await store.cursor();
    delivery = await startDelivery(store, { ...options, upTo: () => cursor ?? 0 });
    return true;
  };

  const release = async (graceMs: number): Promise<void> => {
    await delivery?.stop(graceMs);
    delivery = undefined;
    await lock?.release();
    lock = undefined;
  };

  const dispatch = async (): Promise<void> => {
    for (;;) {
      cursor ??= source.newest;
      const reading = source.read(cursor, PAGE);
      const page = reading instanceof Promise ? await reading : reading;
      // The page may have events that are not written yet. Receivers get only events that are in the log.
      if (isDurable) await source.publishedStored();
      await tell(page.events);
      cursor = Math.max(cursor, page.cursor);
      untold += page.events.length;
      if (untold >= UNTOLD_EVENTS) await moveTo(cursor);
      if (page.live) return;
    }
  };

  const tell = async (events: readonly LoggedEvent[]): Promise<void> => {
    for (const { type, body } of events) if (type === GAP && !body.includes('ended_abruptly')) onGap(body);
    const addressees = await addresseesOf(events);
    const deliveries = events.flatMap((event, at) => deliveriesOf(event, addressees[at] ?? []));
    const last = events.at(-1);
    if (deliveries.length === 0 || last === undefined || delivery === undefined) return;
    await delivery.add(deliveries);
    await moveTo(last.id);
    delivery.send(deliveries.map(({ receiver }) => receiver));
  };

  const moveTo = async (position: number): Promise<void> => {
    await store?.setCursor(position);
    cursor = Math.max(cursor ?? 0, position);
    untold = 0;
  };

  /** Notes the position from which receivers are told, unless there is one already. */
  const begin = async (): Promise<void> => {
    await source.started;
    store ??= open();
    if ((await store.cursor()) === undefined) await store.setCursor(source.newest);
    plan(GATHER_MS);
  };
  const activate = (): Promise<void> => {
    activated ??= begin().catch((error: unknown) => {
      activated = undefined;
      throw error;
    });
    return activated;
  };
  /** Goes on with what an earlier process left. */
  const resume = async (): Promise<void> => {
    try {
      if (isAlwaysOn) return await activate();
      if (!isDurable) return;
      store ??= open();
      if ((await store.cursor()) !== undefined) await activate();
    } catch (error) {
      report(error);
      if (!isStopped) setTimeout(() => void resume(), TAKEOVER_MS).unref();
    }
  };
  void resume();

  return {
    /** Begins to read the log, before the first event that names a receiver. Rejects when the store is away. */
    activate,
    get pending() {
      return delivery?.pending ?? 0;
    },
    get delivery() {
      return delivery;
    },
    /** Looks at the clock again. */
    wake: () => delivery?.wake(),
    /** Tells of the last events, and sends what can be sent at once. May be called again with less time. */
    stop: async (graceMs: number): Promise<void> => {
      if (!isStopped && activated !== undefined) {
        clearTimeout(timer);
        timer = undefined;
        isNews = true;
        await pass();
      }
      isStopped = true;
      unlisten();
      clearTimeout(timer);
      await passing;
      if (untold > 0 && cursor !== undefined) await moveTo(cursor).catch(report);
      await release(graceMs);
    },
  };
}

function namesAny({ callback, notify }: NonNullable<LoggedEvent['to']>): boolean {
  return callback !== undefined || notify !== undefined;
}

/** Returns the messages about an event. */
export function deliveriesOf(event: LoggedEvent, addressees: readonly Addressee[]): readonly NewDelivery[] {
  if (addressees.length === 0) return [];
  const { at, id, batch, watch } = factsOf(event.body);
  const lane = watch !== null ? `w${watch}` : id !== null ? `c${id}` : batch !== null ? `b${batch}` : 's';
  return addressees.map(({ receiver, url }) => ({
    id: messageId(`${receiver} ${url ?? ''}`, event.key ?? String(event.id)),
    ...{ receiver, url, lane, about: event.type, event: event.body, position: event.id },
    apiKeyName: event.api_key_name ?? null,
    createdAt: Date.parse(at) || Date.now(),
  }));
}
