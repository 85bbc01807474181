import { Worker } from 'node:worker_threads';
import { CapstanError } from '../../capture/errors.ts';
import { threadModule } from '../../own-files.ts';
import type { StoreState } from '../ports/result-store.ts';
import type { CallFailure, FromWorker, RemoteTables, Tables, ToWorker, WorkerOptions } from './protocol.ts';

const RESPAWN_MS = 1000;
/** Memory for new objects, in MiB. V8 would take up to 128 MiB after large documents, and keep them. */
const MAX_YOUNG_MB = 16;

/** Called whenever the state changes, with the reason when it is `down`. */
export type OnState = (state: StoreState, reason: string) => void;

interface Waiting {
  readonly resolve: (answer: unknown) => void;
  readonly reject: (error: CapstanError) => void;
}

/** The worker thread of one database file, restarted when it ends unexpectedly. */
export class SqliteThread {
  readonly #opening = Promise.withResolvers<void>();
  /**
   * Resolves when the file is open, or the first attempt to open it has failed. Rejects when the file must not be used.
   */
  readonly settled = this.#opening.promise;

  readonly #options: WorkerOptions;
  readonly #onState: OnState;
  readonly #waiting = new Map<number, Waiting>();
  #worker: Worker;
  #state: StoreState = 'down';
  /** Undefined until the first report, which also covers a file that cannot be opened. */
  #reported: StoreState | undefined;
  #reason = 'it is not open yet';
  #calls = 0;
  #closed = false;
  /** True when the thread has ended and the next one is not started yet. */
  #lost = false;

  constructor(options: WorkerOptions, onState: OnState) {
    this.#options = options;
    this.#onState = onState;
    this.#worker = this.#spawn();
  }

  get state(): StoreState {
    return this.#state;
  }

  /** Returns a table whose methods run in the worker. They reject with a `CapstanError`. */
  table<T extends keyof RemoteTables>(name: T): RemoteTables[T] {
    const call = (method: string, args: readonly unknown[]) => this.#call(name, method, args);
    return new Proxy(Object.create(null), {
      get:
        (_, method) =>
        (...args: readonly unknown[]) =>
          call(String(method), args),
    });
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#state = 'down';
    this.#reason = 'the store is closed';
    const worker = this.#worker;
    if (this.#lost) return;
    worker.ref();
    const ended = new Promise<void>((resolve) => worker.once('exit', () => resolve()));
    worker.postMessage('close' satisfies ToWorker);
    await ended;
  }

  #call(table: keyof Tables, method: string, args: readonly unknown[]): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (this.#closed || this.#lost) {
        reject(this.#unavailable(this.#reason));
        return;
      }
      this.#waiting.set(++this.#calls, { resolve, reject });
      // Only a call that waits for its answer keeps the process alive.
      this.#worker.ref();
      this.#worker.postMessage({ call: this.#calls, table, method, args } satisfies ToWorker);
    });
  }

  #spawn(): Worker {
    const worker = new Worker(threadModule('storage/sqlite/worker'), {
      workerData: this.#options,
      execArgv: ['--disable-warning=ExperimentalWarning'],
      resourceLimits: { maxYoungGenerationSizeMb: MAX_YOUNG_MB },
    });
    worker.on('message', (message: FromWorker) => this.#receive(message));
    let why = 'its thread ended';
    worker.on('error', (error) => {
      why = `its thread ended: ${error.message}`;
    });
    worker.on('exit', () => this.#lose(why));
    return worker;
  }

  #receive(message: FromWorker): void {
    switch (message.type) {
      case 'refused':
        this.#opening.reject(new Error(`${this.#options.path}: ${message.reason}`));
        break;
      case 'state':
        this.#setState(message.state, message.reason);
        this.#opening.resolve();
        this.#unrefIdle();
        break;
      case 'answer':
        this.#endCall(message.call)?.resolve(message.answer);
        break;
      case 'failure':
        this.#endCall(message.call)?.reject(this.#errorOf(message.failure));
        break;
      default:
        message satisfies never;
    }
  }

  #endCall(call: number): Waiting | undefined {
    const waiting = this.#waiting.get(call);
    this.#waiting.delete(call);
    this.#unrefIdle();
    return waiting;
  }

  /** A thread that is being closed keeps the process alive, or a refused start would end without its error. */
  #unrefIdle(): void {
    if (this.#waiting.size === 0 && !this.#closed) this.#worker.unref();
  }

  #setState(state: StoreState, reason: string): void {
    this.#reason = reason;
    if (this.#closed) return;
    this.#state = state;
    if (this.#reported === state) return;
    this.#reported = state;
    this.#onState(state, state === 'up' ? '' : `${this.#options.path} cannot be used: ${reason}`);
  }

  #lose(reason: string): void {
    for (const { reject } of this.#waiting.values()) reject(this.#unavailable(reason));
    this.#waiting.clear();
    this.#opening.resolve();
    if (this.#closed) return;
    this.#lost = true;
    this.#setState('down', reason);
    this.#respawnLater();
  }

  /** Retries with a delay: a thread needs file descriptors of its own, and cannot be started while none are free. */
  #respawnLater(): void {
    setTimeout(() => {
      if (this.#closed) return;
      try {
        this.#worker = this.#spawn();
        this.#lost = false;
      } catch {
        this.#respawnLater();
      }
    }, RESPAWN_MS).unref();
  }

  #errorOf(failure: CallFailure): CapstanError {
    switch (failure.kind) {
      case 'unavailable':
        return this.#unavailable(failure.reason);
      case 'broken':
        return new CapstanError('internal', undefined, { cause: new Error(failure.reason) });
      case 'refused': {
        const { code, reason, retryAfterSeconds } = failure;
        return new CapstanError(code, reason, retryAfterSeconds === undefined ? {} : { retryAfterSeconds });
      }
    }
  }

  #unavailable(reason: string): CapstanError {
    return new CapstanError('database_unavailable', `The database cannot be used: ${reason}.`);
  }
}
