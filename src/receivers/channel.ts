import { errorText } from '../capture/basics/error-text.ts';
import type { StoredDelivery } from '../storage/ports/delivery-store.ts';
import { DIGEST, digestOf, MAX_SHOWN, messageOf, type NoticeOf } from './messages.ts';
import { turnAt } from './pace.ts';
import { givenIn, messageId, nameIn, type Receiver } from './receiver.ts';
import { pauseAfter, type RetryTimes } from './retry-times.ts';
import { failureOf, Sender, type SenderOptions, STORE_RETRY_MS } from './sender.ts';
import type { Attempt } from './transport.ts';

export interface ChannelOptions extends SenderOptions {
  /**
   * Returns the stored position of the log. After a crash, later events are told again, so their messages wait for it.
   */
  readonly upTo: () => number;
  /** Returns the receiver of a message; undefined when it was removed. */
  readonly receiverOf: (delivery: Pick<StoredDelivery, 'receiver' | 'url'>) => Promise<Receiver | undefined>;
  readonly noticeOf: NoticeOf;
  readonly times: RetryTimes;
  /** Maximum number of messages that are sent at once. */
  readonly atOnce: number;
  /** Runs a send when it is the turn of the API key whose events it tells. */
  readonly inTurn: <T>(receiver: Receiver, apiKeyName: string | null, send: () => Promise<T>) => Promise<T>;
  /** Whether no retry is waited for. */
  readonly isEnding: () => boolean;
  /** Called when nothing is sent and nothing can be sent now. `isEmpty`: nothing waits. */
  readonly onRest: (isEmpty: boolean) => void;
}

/** Number of failures in a row after which the receiver, and not a message, is taken for the cause. */
const FAILURES_OF_RECEIVER = 4;
/** Maximum number of lanes that wait for a retry; with more, the whole receiver waits. */
const MAX_BLOCKED = 200;
/** Maximum time that a timer waits, because clocks may change meanwhile. */
const MAX_WAIT_MS = 15 * 60_000;

/**
 * Sends the messages of one receiver: those of a lane one after the other, oldest first. A message that fails holds up
 * its lane alone, unless the receiver asks for a pause or takes nothing.
 */
export class Channel {
  readonly #options: ChannelOptions;
  readonly #sender: Sender;
  readonly #sending = new Set<string>();
  /** Lanes, and when they go on. */
  readonly #blocked = new Map<string, number>();
  #pausedUntil = 0;
  #failures = 0;
  /** Time of the first of the failures in a row. */
  #failingSince = 0;
  #timer: NodeJS.Timeout | undefined;
  #isStepping = false;
  #isWoken = false;

  constructor(options: ChannelOptions) {
    this.#options = options;
    this.#sender = new Sender(options);
  }

  get isBusy(): boolean {
    return this.#isStepping || this.#sending.size > 0;
  }

  /** Looks for messages to send. */
  wake(): void {
    this.#isWoken = true;
    if (!this.#isStepping) void this.#run();
  }

  /** Counts messages for which there was no room. */
  async dropped(count: number): Promise<void> {
    await this.#sender.state.change(({ dropped }) => ({ dropped: dropped + count }));
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  async #run(): Promise<void> {
    this.#isStepping = true;
    while (this.#isWoken && !this.#options.signal.aborted) {
      this.#isWoken = false;
      try {
        await this.#step();
      } catch (error) {
        this.#options.report(error);
        this.#wakeAt(this.#options.clock() + STORE_RETRY_MS);
      }
    }
    this.#isStepping = false;
    const isEnded = this.#options.signal.aborted || !this.#isWoken;
    if (this.#sending.size === 0 && isEnded) this.#options.onRest(false);
  }

  async #step(): Promise<void> {
    const { key, store, upTo, clock, atOnce, receiverOf } = this.#options;
    const now = clock();
    if (now < this.#pausedUntil) return this.#wakeAt(this.#pausedUntil);
    for (const [lane, until] of this.#blocked) if (until <= now) this.#blocked.delete(lane);
    if (this.#sending.size >= atOnce) return;
    const exceptLanes = [...this.#sending, ...this.#blocked.keys()];
    const found = await store.next(key, { exceptLanes, upTo: upTo(), limit: 4 * atOnce });
    const [first] = found;
    if (first === undefined) return this.#rest();
    const receiver = await receiverOf(first);
    const pace = receiver?.pace ?? {};
    const turn = turnAt(now, pace, (await this.#sender.state.read()).sent);
    if (turn.may === 'wait') return this.#wakeAt(turn.until);
    if (turn.may === 'digest') {
      if (receiver !== undefined && this.#sending.size === 0) await this.#digest(receiver, turn.before);
      return;
    }
    // With a maximum an hour, one at a time: a second one may be one too many.
    const max = pace.maxPerHour === undefined ? atOnce : 1;
    for (const delivery of found) {
      const { lane, dueAt } = delivery;
      if (this.#sending.size >= max) return;
      if (this.#sending.has(lane) || this.#blocked.has(lane)) continue;
      if (dueAt > now) this.#blocked.set(lane, dueAt);
      else this.#start(delivery);
    }
    if (this.#blocked.size > MAX_BLOCKED) this.#pausedUntil = Math.min(...this.#blocked.values());
    this.#isWoken = true;
  }

  /** Nothing can be sent now. */
  #rest(): void {
    if (this.#sending.size > 0 || this.#isWoken) return;
    if (this.#blocked.size === 0) {
      // Another channel may take its place, and must be alone.
      clearTimeout(this.#timer);
      this.#options.onRest(true);
    } else this.#wakeAt(Math.min(...this.#blocked.values()));
  }

  #start(delivery: StoredDelivery): void {
    this.#sending.add(delivery.lane);
    const { report } = this.#options;
    void this.#send(delivery)
      .catch((error) => this.#notSent(delivery, error))
      .catch(report)
      .then(() => {
        this.#sending.delete(delivery.lane);
        this.wake();
      });
  }

  async #send(delivery: StoredDelivery): Promise<void> {
    const { receiverOf, noticeOf, inTurn } = this.#options;
    const receiver = await receiverOf(delivery);
    if (receiver === undefined) {
      const gone = { name: nameIn(delivery.receiver), host: '' };
      return this.#sender.bury(delivery, gone, {
        cause: 'refused',
        reason: 'There is no such receiver.',
        status: null,
      });
    }
    const send = () => this.#sender.attempt(receiver, messageOf(delivery, noticeOf));
    const attempt = await inTurn(receiver, delivery.apiKeyName, send);
    if (attempt === undefined) return;
    if (attempt.end === 'delivered') {
      const attempts = delivery.attempts + 1;
      this.#failures = 0;
      return this.#sender.delivered([delivery.id], receiver, { ...delivery, attempts }, attempt.status);
    }
    await this.#postpone(delivery, receiver, attempt);
  }

  /** Sends a message again later, at the times for failed attempts, when the service itself has failed at it. */
  async #notSent(delivery: StoredDelivery, error: unknown): Promise<void> {
    const attempt = this.#failedHere(error);
    if (attempt === undefined) return;
    await this.#postpone(delivery, { name: nameIn(delivery.receiver), host: '' }, attempt);
  }

  /** Reports a failure of the service itself, and returns it as that of an attempt; undefined when sending was ended. */
  #failedHere(error: unknown): Extract<Attempt, { end: 'again' }> | undefined {
    const { report, signal } = this.#options;
    report(error);
    if (signal.aborted) return undefined;
    return { end: 'again', reason: `the service failed: ${errorText(error)}`, status: null, afterMs: null };
  }

  async #postpone(
    delivery: StoredDelivery,
    receiver: Pick<Receiver, 'name' | 'host'>,
    attempt: Exclude<Attempt, { end: 'delivered' }>,
  ): Promise<void> {
    const attempts = delivery.attempts + 1;
    const dueAt = attempt.end === 'again' ? this.#failed(attempt, attempts) : undefined;
    if (dueAt === undefined || this.#isHopeless(delivery.createdAt, attempts)) {
      return this.#sender.bury({ ...delivery, attempts }, receiver, failureOf(attempt));
    }
    const { reason, status } = attempt;
    this.#blocked.set(delivery.lane, dueAt);
    await this.#sender.retry(delivery, { attempts, dueAt, reason, status });
  }

  /** Sends the messages about events before a time as one. */
  async #digest(receiver: Receiver, before: number): Promise<void> {
    const { key, store, upTo, noticeOf, inTurn } = this.#options;
    const { every } = receiver.pace;
    const ids = await store.before(key, before, upTo());
    if (ids.length === 0) {
      if (every !== undefined) return this.#wakeAt(before + every);
      // Nothing was left over from the last hour.
      await this.#sender.state.change(() => ({ sent: undefined }));
      this.#isWoken = true;
      return;
    }
    const shown = await store.read(ids.slice(0, MAX_SHOWN));
    const [first] = shown;
    // The receiver was removed meanwhile.
    if (first === undefined) return;
    const id = messageId(receiver.key, shown.map((one) => one.id).join(' '));
    const apiKeyName = givenIn(key)?.apiKeyName ?? null;
    const message = () => digestOf(id, shown, ids.length - shown.length, noticeOf);
    const send = async () => inTurn(receiver, apiKeyName, () => this.#sender.attempt(receiver, message()));
    const attempt = await send().catch((error) => this.#failedHere(error));
    if (attempt === undefined) return;
    this.#isWoken = true;
    if (attempt.end !== 'delivered') {
      if (attempt.end === 'again') this.#pausedUntil = this.#failed(attempt, this.#failures + 1);
      for (const one of shown) {
        // A digest holds events that are older than its first attempt.
        const since = Math.max(one.createdAt, this.#failingSince);
        const isOver = attempt.end !== 'again' || this.#isHopeless(since, this.#failures);
        if (isOver) await this.#sender.bury(one, receiver, failureOf(attempt));
      }
      return;
    }
    this.#failures = 0;
    // Only what was told: dead letters may have been revived meanwhile.
    const about = { ...first, id, about: DIGEST, event: '{}', attempts: 1 };
    await this.#sender.delivered(ids, receiver, about, attempt.status);
  }

  /**
   * Notes a failure. Returns the time of the next attempt: when the receiver asked for a pause, the message goes on
   * with it, before later ones.
   */
  #failed({ afterMs }: Extract<Attempt, { end: 'again' }>, attempts: number): number {
    const { times, clock } = this.#options;
    const now = clock();
    if (this.#failures === 0) this.#failingSince = now;
    this.#failures += 1;
    const wanted = Math.min(afterMs ?? 0, times.giveUpAfterMs);
    const ofReceiver = this.#failures - FAILURES_OF_RECEIVER + 1;
    const pause = ofReceiver > 0 ? pauseAfter(ofReceiver, times, Math.random()) : 0;
    const until = now + Math.max(wanted, pause);
    if (wanted > 0 || pause > 0) this.#pausedUntil = Math.max(this.#pausedUntil, until);
    return now + Math.max(wanted, pauseAfter(attempts, times, Math.random()));
  }

  #isHopeless(createdAt: number, attempts: number): boolean {
    const { times, clock } = this.#options;
    const isOld = clock() - createdAt > times.giveUpAfterMs;
    return isOld && Math.max(attempts, this.#failures) >= times.minAttempts;
  }

  #wakeAt(time: number): void {
    clearTimeout(this.#timer);
    if (this.#options.isEnding()) return;
    const ms = Math.min(Math.max(1, time - this.#options.clock()), MAX_WAIT_MS);
    this.#timer = setTimeout(() => this.wake(), ms).unref();
  }
}
