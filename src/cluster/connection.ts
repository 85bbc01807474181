import { setTimeout as delay } from 'node:timers/promises';
import { type ConnectionOptions, connect, type Msg, type NatsConnection, TimeoutError } from '@nats-io/transport-node';
import { logIn } from './try-server.ts';

/** Thrown while NATS is away. Whether the work was done is then unknown. */
export class AwayError extends Error {
  override readonly name = 'AwayError';
}

export interface LinkOptions {
  readonly connection: ConnectionOptions;
  /** Called when NATS can be reached, and when it cannot be reached any more. */
  readonly onState: (isUp: boolean, server: string) => void;
  /** Reports why NATS cannot be reached, once for each reason. */
  readonly onProblem: (problem: unknown) => void;
}

const RECONNECT_MS = 250;
/** Time limit for a connection, in milliseconds. */
const CONNECT_MS = 5_000;
/** Number of unanswered pings after which a server counts as away: after at most 9 s. */
const PING = { pingInterval: 3_000, maxPingOut: 2 };

/**
 * The connection of this process to NATS, which may be away at any time. Work is refused at once while it is: the client
 * would buffer it and send it later.
 */
export class Link {
  readonly #options: LinkOptions;
  readonly #closing = new AbortController();
  readonly #subscriptions: (readonly [subject: string, onMessage: (message: Msg) => void])[] = [];
  readonly #observers: ((isUp: boolean) => void)[] = [];
  /** Rejects the requests that wait for an answer. */
  readonly #losing = new Set<() => void>();
  #connection: NatsConnection | undefined;
  #isUp = false;
  #lastProblem = '';

  constructor(options: LinkOptions) {
    this.#options = options;
  }

  get isUp(): boolean {
    return this.#isUp;
  }

  /** Largest message in bytes. */
  get maxPayload(): number {
    return this.#connection?.info?.max_payload ?? 1024 * 1024;
  }

  /** Connects, however long that takes. */
  start(): void {
    void this.#connect();
  }

  /** Subscribes now and after each reconnection. */
  subscribe(subject: string, onMessage: (message: Msg) => void): void {
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
        this.#report(error instanceof TimeoutError ? await this.#causeOf(error) : error);
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
      else if (status.type === 'error') this.#report(status.error);
    }
  }

  #subscribe(connection: NatsConnection, subject: string, onMessage: (message: Msg) => void): void {
    connection.subscribe(subject, {
      callback: (error, message) => {
        if (error === null) onMessage(message);
        else this.#report(error);
      },
    });
  }

  #setUp(isUp: boolean): void {
    if (isUp === this.#isUp) return;
    this.#isUp = isUp;
    this.#lastProblem = '';
    if (!isUp) for (const lose of this.#losing) lose();
    if (!this.#closing.signal.aborted) this.#options.onState(isUp, this.#connection?.getServer() ?? '');
    for (const observer of this.#observers) observer(isUp);
  }

  #report(problem: unknown): void {
    const text = String(problem);
    if (text === this.#lastProblem || this.#closing.signal.aborted) return;
    this.#lastProblem = text;
    this.#options.onProblem(problem);
  }
}
