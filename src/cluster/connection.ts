import { setTimeout as delay } from 'node:timers/promises';
import { type ConnectionOptions, connect, type Msg, type NatsConnection, TimeoutError } from '@nats-io/transport-node';
import { errorText } from '../capture/basics/error-text.ts';
import { BadMessageError } from './messages.ts';
import { logIn } from './servers.ts';
import type { Subjects } from './subjects.ts';

/** Thrown while NATS is away. Whether the work was done is then unknown. */
export class AwayError extends Error {
  override readonly name = 'AwayError';
}

export interface LinkOptions {
  readonly connection: ConnectionOptions;
  readonly subjects: Subjects;
  /** Called when NATS can be reached, and when it cannot be reached any more. */
  readonly onState: (isUp: boolean, server: string) => void;
  /** Reports why NATS cannot be reached or used, once for each reason. */
  readonly onProblem: (problem: unknown) => void;
  /** Reports messages that were dropped because they cannot be read, at most once in 10 s. */
  readonly onBadMessages: (count: number, subject: string, cause: unknown) => void;
}

type OnMessage = (message: Msg) => void | Promise<void>;

const RECONNECT_MS = 250;
/** Time limit for a connection, in milliseconds. */
const CONNECT_MS = 5_000;
/** Minimum interval between reports of messages that cannot be read, in milliseconds. */
const BAD_MESSAGES_MS = 10_000;
/** Number of unanswered pings after which a server counts as away: after at most 9 s. */
const PING = { pingInterval: 3_000, maxPingOut: 2 };

/**
 * The connection of this process to NATS, which may be away at any time. Work is refused at once while it is: the
 * client would buffer it and send it later.
 */
export class Link {
  readonly subjects: Subjects;
  readonly #options: LinkOptions;
  readonly #closing = new AbortController();
  readonly #subscriptions: (readonly [subject: string, onMessage: OnMessage])[] = [];
  readonly #observers: ((isUp: boolean) => void)[] = [];
  /** Rejects the requests that wait for an answer. */
  readonly #losing = new Set<() => void>();
  #connection: NatsConnection | undefined;
  #isUp = false;
  #lastProblem = '';
  #badMessages = 0;
  #reportedBad = 0;
  #reportedBadAt = Number.NEGATIVE_INFINITY;

  constructor(options: LinkOptions) {
    this.#options = options;
    this.subjects = options.subjects;
  }

  get isUp(): boolean {
    return this.#isUp;
  }

  /** Number of messages since the start that were dropped because they cannot be read. */
  get badMessages(): number {
    return this.#badMessages;
  }

  get inboxPrefix(): string | undefined {
    return this.#options.connection.inboxPrefix;
  }

  /** Maximum size of a message, in bytes. */
  get maxPayload(): number {
    return this.#connection?.info?.max_payload ?? 1024 * 1024;
  }

  /** Connects, however long that takes. */
  start(): void {
    void this.#connect();
  }

  /** Subscribes now and after each reconnection. */
  subscribe(subject: string, onMessage: OnMessage): void {
    this.#subscriptions.push([subject, onMessage]);
    if (this.#connection !== undefined) this.#subscribe(this.#connection, subject, onMessage);
  }

  /** Called with each later change. */
  observe(observer: (isUp: boolean) => void): void {
    this.#observers.push(observer);
  }

  /** Sends a message, unless NATS is away. */
  publish(subject: string, body: Uint8Array | string = ''): void {
    if (this.#isUp) this.#connection?.publish(subject, body);
  }

  request(subject: string, body: Uint8Array | string, timeoutMs: number): Promise<Msg> {
    return this.with((connection) => connection.request(subject, body, { timeout: timeoutMs }));
  }

  /** Runs work on the connection. Rejects with an `AwayError` when NATS is away, or is lost meanwhile. */
  with<T>(work: (connection: NatsConnection) => Promise<T>): Promise<T> {
    const connection = this.#connection;
    if (!this.#isUp || connection === undefined) return Promise.reject(new AwayError('NATS cannot be reached.'));
    return new Promise((resolve, reject) => {
      const lose = () => reject(new AwayError('The connection to NATS was lost.'));
      this.#losing.add(lose);
      work(connection)
        .then(resolve, reject)
        .finally(() => this.#losing.delete(lose));
    });
  }

  async close(): Promise<void> {
    this.#closing.abort();
    const connection = this.#connection;
    // Flushes the last messages, such as acknowledgements.
    if (this.#isUp) await connection?.flush().catch(() => undefined);
    this.#setUp(false);
    await connection?.close();
  }

  async #connect(): Promise<void> {
    const { signal } = this.#closing;
    while (!signal.aborted) {
      try {
        const connection = await connect({
          ...this.#options.connection,
          ...PING,
          timeout: CONNECT_MS,
          maxReconnectAttempts: -1,
          reconnectTimeWait: RECONNECT_MS,
          reconnectJitter: RECONNECT_MS,
          ignoreAuthErrorAbort: true,
          noAsyncTraces: true,
        });
        if (signal.aborted) return await connection.close();
        this.#connection = connection;
        for (const [subject, onMessage] of this.#subscriptions) this.#subscribe(connection, subject, onMessage);
        void this.#watch(connection);
        this.#setUp(true);
        return;
      } catch (error) {
        this.report(error instanceof TimeoutError ? await this.#causeOf(error) : error);
        await delay(RECONNECT_MS, undefined, { signal }).catch(() => undefined);
      }
    }
  }

  /**
   * Finds out why a connection was not made in time. The client loses the reason when a server refuses our certificate,
   * which TLS 1.3 reports after the handshake; without reconnection it passes the reason on.
   */
  #causeOf(timeout: TimeoutError): Promise<unknown> {
    return logIn(this.#options.connection, CONNECT_MS).then(
      () => timeout,
      (reason: unknown) => reason,
    );
  }

  async #watch(connection: NatsConnection): Promise<void> {
    for await (const status of connection.status()) {
      if (status.type === 'disconnect') this.#setUp(false);
      else if (status.type === 'reconnect') this.#setUp(true);
      else if (status.type === 'error') this.report(status.error);
    }
  }

  #subscribe(connection: NatsConnection, subject: string, onMessage: OnMessage): void {
    connection.subscribe(subject, {
      callback: (error, message) => {
        if (error !== null) return this.report(error);
        // An exception in this callback would end the client's read loop.
        try {
          const handling = onMessage(message);
          if (handling !== undefined) handling.catch((problem) => this.#failed(subject, problem));
        } catch (problem) {
          this.#failed(subject, problem);
        }
      },
    });
  }

  #failed(subject: string, problem: unknown): void {
    if (!(problem instanceof BadMessageError)) {
      this.report(problem);
      return;
    }
    this.#badMessages += 1;
    const now = performance.now();
    if (now - this.#reportedBadAt < BAD_MESSAGES_MS) return;
    this.#reportedBadAt = now;
    this.#options.onBadMessages(this.#badMessages - this.#reportedBad, subject, problem.cause);
    this.#reportedBad = this.#badMessages;
  }

  #setUp(isUp: boolean): void {
    if (isUp === this.#isUp) return;
    this.#isUp = isUp;
    this.#lastProblem = '';
    if (!isUp) for (const lose of this.#losing) lose();
    if (!this.#closing.signal.aborted) this.#options.onState(isUp, this.#connection?.getServer() ?? '');
    for (const observer of this.#observers) observer(isUp);
  }

  /** Reports a problem, unless it is the one that was reported last since NATS came or went. */
  report(problem: unknown): void {
    // The client reports a violation of permissions twice, as errors of different names.
    const text = errorText(problem);
    if (text === this.#lastProblem || this.#closing.signal.aborted) return;
    this.#lastProblem = text;
    this.#options.onProblem(problem);
  }
}
