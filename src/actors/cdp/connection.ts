import { EventEmitter } from 'node:events';
import type { Readable, Writable } from 'node:stream';
import type { Protocol } from 'devtools-protocol';
import type { ProtocolMapping } from 'devtools-protocol/types/protocol-mapping.d.ts';
import { readMessages } from './framing.ts';

type Commands = ProtocolMapping.Commands;
type Events = ProtocolMapping.Events;
type Method = keyof Commands;
type Params<M extends Method> = Commands[M]['paramsType'];
type Answer<M extends Method> = Commands[M]['returnType'];

/** Chromium refused a command. `method` names it. */
export class CdpError extends Error {
  override readonly name = 'CdpError';
  readonly method: string;

  constructor(method: string, text: string) {
    super(`${method}: ${text}`);
    this.method = method;
  }
}

/** The browser, or the page, went away while an answer was awaited. */
export class CdpClosedError extends Error {
  override readonly name = 'CdpClosedError';
}

interface Pending {
  readonly method: string;
  readonly resolve: (answer: never) => void;
  readonly reject: (error: Error) => void;
  readonly session: CdpSession;
}

/** What comes over the pipe. Its inside is typed by the protocol's own declarations, which the browser keeps to. */
interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly params?: never;
  readonly result?: never;
  readonly error?: { readonly message: string };
  readonly sessionId?: string;
}

/** The DevTools protocol over a pair of pipes, with flat sessions: one JSON message after another, NUL between them. */
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
    // A write after the browser's end is no news: the reading side tells it.
    output.on('error', () => this.#close());
    input.on('error', () => this.#close());
    input.on('close', () => this.#close());
    readMessages(input, (text) => this.#dispatch(JSON.parse(text)));
  }

  get closed(): boolean {
    return this.#closed;
  }

  /** The session that `Target.attachedToTarget` announced. */
  session(id: string): CdpSession {
    const known = this.#sessions.get(id);
    if (known !== undefined) return known;
    const session = new CdpSession(this, id);
    this.#sessions.set(id, session);
    return session;
  }

  send<M extends Method>(session: CdpSession, method: M, params: Params<M>): Promise<Answer<M>> {
    if (this.#closed) return Promise.reject(new CdpClosedError('the browser is gone'));
    const id = ++this.#lastId;
    const sent = new Promise<Answer<M>>((resolve, reject) => {
      this.#pending.set(id, { method, resolve, reject, session });
    });
    this.#write(id, session, method, params);
    return sent;
  }

  post<M extends Method>(session: CdpSession, method: M, params: Params<M>): void {
    if (!this.#closed) this.#write(++this.#lastId, session, method, params);
  }

  #write<M extends Method>(id: number, session: CdpSession, method: M, params: Params<M>): void {
    const [first] = params;
    const message =
      session.id === '' ? { id, method, params: first } : { id, method, params: first, sessionId: session.id };
    if (this.#outgoing === '') queueMicrotask(() => this.#flush());
    this.#outgoing += `${JSON.stringify(message)}\0`;
  }

  /** What is sent together is written together: each write wakes the browser. */
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

  #detach(sessionId: string): void {
    const session = this.#sessions.get(sessionId);
    if (session === undefined) return;
    this.#sessions.delete(sessionId);
    for (const [id, pending] of this.#pending) {
      if (pending.session !== session) continue;
      this.#pending.delete(id);
      pending.reject(new CdpClosedError('the page is gone'));
    }
  }

  #close(): void {
    if (this.#closed) return;
    this.#closed = true;
    const gone = new CdpClosedError('the browser is gone');
    for (const pending of this.#pending.values()) pending.reject(gone);
    this.#pending.clear();
    this.#sessions.clear();
  }
}

/** One target's share of a connection: the browser, or a page. */
export class CdpSession {
  readonly id: string;
  readonly #connection: CdpConnection;
  readonly #events = new EventEmitter();

  constructor(connection: CdpConnection, id: string) {
    this.#connection = connection;
    this.id = id;
  }

  /** Rejects with a `CdpError` when Chromium refuses, with a `CdpClosedError` when the page or the browser ends. */
  send<M extends Method>(method: M, ...params: Params<M>): Promise<Answer<M>> {
    return this.#connection.send(this, method, params);
  }

  /** Sends without waiting; whatever is answered, errors among it, is dropped. */
  post<M extends Method>(method: M, ...params: Params<M>): void {
    this.#connection.post(this, method, params);
  }

  /** Listens to an event until the returned function is called. */
  on<E extends keyof Events>(event: E, handler: (...params: Events[E]) => void): () => void {
    this.#events.on(event, handler);
    return () => this.#events.off(event, handler);
  }

  emit(event: string, params: never): void {
    this.#events.emit(event, params);
  }
}
