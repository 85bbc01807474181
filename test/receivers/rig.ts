import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import type { CapstanEvent, DeliveryEvent, Recipients, WatchEvent } from '../../src/capture/events.ts';
import type { NewReceiver } from '../../src/capture/work/receiver.ts';
import { openEventFeed } from '../../src/feed/event-feed.ts';
import { createDispatcher, type DispatcherOptions } from '../../src/receivers/dispatcher.ts';
import { createRegistry } from '../../src/receivers/registry.ts';
import { sayEvent } from '../../src/receivers/say-event.ts';
import { readSecret } from '../../src/receivers/transports/signature.ts';
import type { Database } from '../../src/storage/ports/database.ts';
import type { DeliveryStore } from '../../src/storage/ports/delivery-store.ts';
import { createEventStream } from '../../src/streams/events.ts';
import { makeDirectory } from '../support/temporary-directory.ts';
import { openLog } from './open-log.ts';
import { receiverEgress, SECRET } from './receiver.ts';

export interface RigOptions extends Partial<Pick<DispatcherOptions, 'times' | 'atOnce' | 'clock' | 'keysShare'>> {
  readonly webhooks?: readonly string[];
  readonly operator?: readonly NewReceiver[];
  /** @default the store of the database */
  readonly store?: DeliveryStore;
  /** The log, for `openLog`. @default a new file */
  readonly log?: string;
}

export const QUICK = { firstMs: 2, maxMs: 20, giveUpAfterMs: 3_600_000, minAttempts: 3 };

const NO_SOURCES = {
  publicUrl: null,
  share: async () => null,
  readImage: async () => null,
  drawDifference: async () => null,
};

type RigDatabase = Pick<Database, 'receivers' | 'openDeliveries'>;

/**
 * Starts a rig for a test. It is stopped at the end of the test, also of one that fails, unless it was stopped before.
 */
export async function startRig(database: RigDatabase, options: RigOptions = {}) {
  const rig = await openRig(database, options);
  onTestFinished(() => rig.stop());
  return rig;
}

/** Tells receivers of events, with a log and a store of messages as a service has them. */
export async function openRig(database: RigDatabase, options: RigOptions = {}) {
  const { webhooks = [], operator = [], clock = Date.now, times = QUICK, atOnce, keysShare = () => false } = options;
  const path = options.log ?? join(await makeDirectory(), 'events.db');
  const { log, close } = await openLog(path);
  const egress = receiverEgress();
  const events = createEventStream();
  const reported: DeliveryEvent[] = [];
  const problems: unknown[] = [];
  const feed = openEventFeed(events.addressed$, log);
  await feed.started;
  const parts = { agents: egress.agents, connectToMail: egress.connectToMail, keys: () => [readSecret(SECRET)], clock };
  const registry = createRegistry({ webhooks, operator, alerts: [], given: database.receivers, ...parts });
  const store = options.store ?? database.openDeliveries();
  const dispatcher = createDispatcher({
    ...{
      source: feed,
      open: () => store,
      receiverOf: registry.receiverOf,
      noticeOf: (event: string) => sayEvent(event, NO_SOURCES),
    },
    ...{ clock, times, atOnce, keysShare, isDurable: store.isDurable, isAlwaysOn: registry.isAlwaysOn },
    addresseesOf: async (logged) => logged.map((event) => registry.addresseesOf(event)),
    emit: (event) => {
      reported.push(event);
      events.emit(event);
    },
    onGap: (gap) => problems.push(gap),
    report: (error) => problems.push(error),
  });
  await dispatcher.activate();
  const stop = async (graceMs: number) => {
    await dispatcher.stop(graceMs);
    await feed.close();
    await close();
    await egress.close();
    expect(problems).toEqual([]);
  };
  let stopping: Promise<void> | undefined;
  const conclude = (event: Extract<CapstanEvent, { type: `batch.${string}` | `watch.${string}` }>, to?: Recipients) =>
    events.conclude(event, to);
  return {
    log: path,
    store,
    registry,
    dispatcher,
    reported,
    problems,
    /** Reports so far: what the event was about, and how the message ended. */
    said: () =>
      reported.map(
        (event) => `${event.watch ?? event.batch ?? event.about} ${'cause' in event ? event.cause : 'delivered'}`,
      ),
    /** Tells of the end of a batch. */
    batch: (batch: string, to: Recipients = {}, key?: string, at = clock()) =>
      conclude({ type: 'batch.completed', at: iso(at), batch, size: 1, done: 1, failed: 0, ...named(key) }, to),
    /** Tells of a change that a watch found. */
    watch: (watch: number, run: number, to: Recipients = {}) => conclude(changed(watch, run), to),
    stored: () => feed.allStored(),
    /** Idempotent. */
    stop: (graceMs = 0) => {
      stopping ??= stop(graceMs);
      return stopping;
    },
  };
}

function named(key: string | undefined) {
  return key === undefined ? {} : { api_key_name: key };
}

function iso(at: number): string {
  return new Date(at).toISOString();
}

/** `run`: its number, by which the test tells messages apart. */
function changed(watch: number, run: number): WatchEvent {
  const at = iso(Date.UTC(2027, 0, 1) + run);
  const nothing = { before: null, changed: [], share: null, regions: [], values: null, verdict: null, code: null };
  return {
    ...{ type: 'watch.changed', at: iso(Date.now()), watch, url: 'https://a.test/', host: 'a.test', labels: [] },
    run: { due: at, at, state: 'changed', capture: run, reason: null, ...nothing },
    comparison: null,
  };
}
