import { EventEmitter } from 'node:events';
import type { Readable, Writable } from 'node:stream';
import type { Protocol } from 'devtools-protocol';
import type { ProtocolMapping } from 'devtools-protocol/types/protocol-mapping.d.ts';
import type { DataEncoding } from './data-answer.ts';
import { readMessages } from './framing.ts';

type Commands = ProtocolMapping.Commands;
type Events = ProtocolMapping.Events;
type Method = keyof Commands;
type Params<M extends Method> = Commands[M]['paramsType'];
type Answer<M extends Method> = Commands[M]['returnType'];

/** Chromium refused a command. `method` is the command, `text` is Chromium's message. */
export class CdpError extends Error {
  override readonly name = 'CdpError';
  readonly method: string;
  readonly text: string;

  constructor(method: string, text: string) {
    super(`${method}: ${text}`);
    this.method = method;
    this.text = text;
  }
}

/** The browser or the page ended before it answered. */
export class CdpClosedError extends Error {
  override readonly name = 'CdpClosedError';
}

/** The encoding of `data`, if the caller accepts its decoded bytes; `short` refuses an answer larger than an event. */
type AnswerForm = DataEncoding | 'short';

interface Pending {
  readonly method: string;
  readonly resolve: (answer: never) => void;
  readonly reject: (error: Error) => void;
  readonly session: CdpSession;
  readonly form: AnswerForm | undefined;
}

/** A message from the pipe. Its content has the protocol's own types, which the browser is trusted to follow. */
interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly params?: never;
  readonly result?: never;
  readonly error?: { readonly message: string };
  readonly sessionId?: string;
}

/**
 * The event with which Chromium announces the end of a session; emitted also when the browser ended, for listeners that
 * await no answer.
 */
const ENDED = ['Inspector.detached', { reason: 'it is gone' } as never] as const;

/** The DevTools protocol over a pair of pipes, with flat sessions: JSON messages separated by NUL. */
export class CdpConnection {
  /** The session of the browser itself. */
  readonly root: CdpSession;
  readonly #output: Writable;
  readonly #pending = new Map<number, Pending>();
  readonly #sessions = new Map<string, CdpSession>();
  #lastId = 0;
  #outgoing = '';
  #closed = false;

  constructor(output: Writable, input: Readable) {
    this.#output = output;
    this.root = new CdpSession(this, '');
    this.#sessions.set('', this.root);
    // Write errors after the browser's end are ignored: the reading side reports it.
    output.on('error', () => this.#close());
    input.on('error', () => this.#close());
    input.on('close', () => this.#close());
    readMessages(input, {
      take: (text) => {
        const message = parsed(text);
        if (message !== undefined) return this.#dispatch(message);
        // Closing the pipes ends the browser, which is then replaced.
        input.destroy();
        output.destroy();
      },
      pass: (head) => this.#refuse(head),
      isShort: (id) => this.#pending.get(id)?.form === 'short',
      wantsData: (id) => encodingOf(this.#pending.get(id)?.form),
      takeData: (id, data) => this.#dispatch({ id, result: data as never }),
    });
  }

  get closed(): boolean {
    return this.#closed;
  }

  /** Whether a command of this name has no answer yet. */
  awaits(method: Method): boolean {
    return this.#pending.values().some((pending) => pending.method === method);
  }

  /** Returns the session announced by `Target.attachedToTarget`. */
  session(id: string): CdpSession {
    const known = this.#sessions.get(id);
    if (known !== undefined) return known;
    const session = new CdpSession(this, id);
    this.#sessions.set(id, session);
    return session;
  }

  /** Calls `resolve` or `reject` when the answer arrives, before later messages are dispatched. */
  send(
    session: CdpSession,
    method: string,
    params: unknown,
    resolve: (answer: never) => void,
    reject: (error: Error) => void,
    form?: AnswerForm,
  ): void {
    if (this.#closed) {
      reject(new CdpClosedError('the browser is gone'));
      return;
    }
    const id = ++this.#lastId;
    this.#pending.set(id, { method, resolve, reject, session, form });
    this.#write(id, session, method, params);
  }

  post(session: CdpSession, method: string, params: unknown): void {
    if (!this.#closed) this.#write(++this.#lastId, session, method, params);
  }

  /**
   * Forgets a session whose end is not announced, such as one nested in a closed session. Pending commands are
   * rejected.
   */
  drop(session: CdpSession): void {
    this.#detach(session.id);
  }

  #write(id: number, session: CdpSession, method: string, params: unknown): void {
    const message = session.id === '' ? { id, method, params } : { id, method, params, sessionId: session.id };
    if (this.#outgoing === '') queueMicrotask(() => this.#flush());
    this.#outgoing += `${JSON.stringify(message)}\0`;
  }

  /** Commands of one turn are written together, because each write wakes the browser. */
  #flush(): void {
    const messages = this.#outgoing;
    this.#outgoing = '';
    if (!this.#closed) this.#output.write(messages);
  }

  #dispatch(message: Message): void {
    if (message.id !== undefined) {
      const pending = this.#pending.get(message.id);
      if (pending === undefined) return;
      this.#pending.delete(message.id);
      if (message.error !== undefined) pending.reject(new CdpError(pending.method, message.error.message));
      else pending.resolve(message.result as never);
      return;
    }
    if (message.method === undefined) return;
    const session = this.#sessions.get(message.sessionId ?? '');
    session?.emit(message.method, message.params as never);
    if (message.method === 'Target.detachedFromTarget') {
      const { sessionId }: Protocol.Target.DetachedFromTargetEvent = message.params as never;
      this.#detach(sessionId);
    }
  }

  /** Rejects the command whose answer is over the size limit; drops an event over the limit. */
  #refuse(head: string): void {
    const [, digits] = /^\{"id":(\d+)/.exec(head) ?? [];
    if (digits !== undefined) this.#dispatch({ id: Number(digits), error: { message: 'the answer is too long' } });
  }

  #detach(sessionId: string): void {
    const session = this.#sessions.get(sessionId);
    if (session === undefined) return;
    this.#sessions.delete(sessionId);
    for (const [id, pending] of this.#pending) {
      if (pending.session !== session) continue;
      this.#pending.delete(id);
      pending.reject(new CdpClosedError('the page is gone'));
    }
    session.emit(...ENDED);
  }

  #close(): void {
    if (this.#closed) return;
    this.#closed = true;
    const gone = new CdpClosedError('the browser is gone');
    for (const pending of this.#pending.values()) pending.reject(gone);
    this.#pending.clear();
    const ended = [...this.#sessions.values()];
    this.#sessions.clear();
    for (const session of ended) session.emit(...ENDED);
  }
}

/** The session of one target on a connection: the browser, or a page. */
export class CdpSession {
  readonly id: string;
  readonly #connection: CdpConnection;
  readonly #events = new EventEmitter();
  #tap: ((method: string, params: object) => void) | undefined;

  constructor(connection: CdpConnection, id: string) {
    this.#connection = connection;
    this.id = id;
  }

  /**
   * Sends a command. Rejects with a `CdpError` when Chromium refuses it, and with a `CdpClosedError` when the page or
   * the browser ends.
   */
  send<M extends Method>(method: M, ...params: Params<M>): Promise<Answer<M>> {
    return new Promise((resolve, reject) => this.#connection.send(this, method, params[0], resolve, reject));
  }

  /** Like `send`, for an answer whose size a page controls: rejects when it is larger than 4 MiB. */
  sendForShort<M extends Method>(method: M, ...params: Params<M>): Promise<Answer<M>> {
    return new Promise((resolve, reject) => this.#connection.send(this, method, params[0], resolve, reject, 'short'));
  }

  /** Takes the screenshot of the page. Rejects as `send` does. */
  async shoot(params: Protocol.Page.CaptureScreenshotRequest): Promise<Buffer> {
    const answer = await new Promise<Buffer | Protocol.Page.CaptureScreenshotResponse>((resolve, reject) =>
      this.#connection.send(this, 'Page.captureScreenshot', params, resolve, reject, 'base64'),
    );
    return Buffer.isBuffer(answer) ? answer : Buffer.from(answer.data, 'base64');
  }

  /** Archives the page as MHTML, which is ASCII. Rejects as `send` does. */
  async archive(): Promise<Buffer> {
    const answer = await new Promise<Buffer | Protocol.Page.CaptureSnapshotResponse>((resolve, reject) =>
      this.#connection.send(this, 'Page.captureSnapshot', { format: 'mhtml' }, resolve, reject, 'latin1'),
    );
    return Buffer.isBuffer(answer) ? answer : Buffer.from(answer.data, 'latin1');
  }

  /**
   * Sends a command for another client of the protocol, which has its own types. Takes callbacks, which keep the answer
   * in order with the events; a promise would resolve after the events that arrived with it.
   */
  relay(method: string, params: object, resolve: (answer: object) => void, reject: (error: Error) => void): void {
    this.#connection.send(this, method, params, resolve, reject);
  }

  /** Sends without waiting; the answer is dropped, even an error. */
  post<M extends Method>(method: M, ...params: Params<M>): void {
    this.#connection.post(this, method, params[0]);
  }

  /** Listens to an event until the returned function is called. */
  on<E extends keyof Events>(event: E, handler: (...params: Events[E]) => void): () => void {
    this.#events.on(event, handler);
    return () => this.#events.off(event, handler);
  }

  /** Passes every event to another client of the protocol. There is at most one such listener. */
  tap(handler: (event: string, params: object) => void): void {
    this.#tap = handler;
  }

  emit(event: string, params: never): void {
    this.#events.emit(event, params);
    this.#tap?.(event, params);
  }
}

function encodingOf(form: AnswerForm | undefined): DataEncoding | undefined {
  return form === 'short' ? undefined : form;
}

/** Returns undefined for invalid JSON. */
function parsed(text: string): Message | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
