import { setTimeout as delay } from 'node:timers/promises';
import type { CaptureCommand } from '../capture/command.ts';
import { type Dialled, MAX_UNUSED_MS, type Unreached } from '../capture/dialled.ts';
import type { CaptureOutcome } from '../capture/outcome.ts';
import type { Census } from './census.ts';
import type { Link } from './connection.ts';
import {
  decode,
  encode,
  encodeWithin,
  FromWorker,
  forWorker,
  MAX_SMALL_BYTES,
  type ToNode,
  type ToWorker,
} from './messages.ts';

/** Interval at which workers that dial are looked for in the census, in milliseconds. */
const CHECK_MS = 500;
/** Pause after all workers were busy, in milliseconds. */
const BUSY_MS = 100;
/** Time limit for a worker's answer to a request, in milliseconds. */
const ANSWER_MS = 1_000;
/** Time that a worker has to report a dial that has reached its deadline or was cancelled, in milliseconds. */
const GRACE_MS = 5_000;

interface RemoteDialsOptions {
  readonly link: Link;
  readonly census: Pick<Census, 'workers'>;
  /** Name of this api node. */
  readonly node: string;
}

type Found = { readonly ms: number } | CaptureOutcome;

/** A dial at a worker. `settle`: undefined when the worker does not dial it, or was lost. */
interface Pending {
  readonly worker: string;
  readonly settle: (found: Found | undefined) => void;
}

/** The api node's side of dials: has the targets of captures dialled by workers, before their tickets are published. */
export class RemoteDials {
  readonly #options: RemoteDialsOptions;
  readonly #pending = new Map<number, Pending>();
  /** Connections that wait at a worker, by capture. */
  readonly #open = new Map<number, { readonly worker: string; readonly ms: number; readonly at: number }>();
  /** Captures that a lost worker may have ended and recorded. */
  readonly #uncertain = new Set<number>();
  readonly #timer: NodeJS.Timeout;

  constructor(options: RemoteDialsOptions) {
    this.#options = options;
    this.#timer = setInterval(() => this.#leaveLostWorkers(), CHECK_MS);
    this.#timer.unref();
  }

  /** Whether a worker dials ahead of its slots. */
  get areAvailable(): boolean {
    return this.#options.link.isUp && this.#options.census.workers.some(({ dials }) => dials > 0);
  }

  /**
   * Resolves with the connection at a worker, or with the outcome of a capture whose target was not reached. Without a
   * worker that dials, there is no connection, and the capture's worker connects.
   */
  async dial(command: CaptureCommand): Promise<Dialled | Unreached> {
    const { id, signal, request } = command;
    const until = performance.now() + request.timeoutMs;
    for (let attempt = 1; !signal.aborted; ) {
      const worker = this.#choose();
      const leftMs = Math.ceil(until - performance.now());
      if (worker === undefined || leftMs <= 0) break;
      const found = await this.#dialAt(worker, command, leftMs, attempt);
      if (found === 'busy') {
        await delay(BUSY_MS, undefined, { signal }).catch(() => undefined);
      } else if (found === undefined) {
        this.#uncertain.add(id);
        attempt += 1;
      } else if ('state' in found) {
        this.#uncertain.delete(id);
        return { outcome: Promise.resolve(found) };
      } else {
        this.#open.set(id, { worker, ms: found.ms, at: performance.now() });
        return this.#dialled(id, found.ms);
      }
    }
    return this.#dialled(id, 0);
  }

  /** Stands for a connection at a worker, which is not in this process. */
  #dialled(id: number, ms: number): Dialled {
    return { ms, take: () => undefined, close: () => this.forget(id) };
  }

  /** Handles a message about a dial. False when it is not about one that is awaited. */
  hear(said: ToNode): boolean {
    const pending = this.#pending.get(said.id);
    if (pending !== undefined && said.type === 'report' && said.outcome.state !== 'stored') {
      // The first outcome counts, also of a worker that counted as lost.
      if (pending.worker !== said.worker) this.#release(said.id, pending.worker);
      pending.settle(said.outcome);
      return true;
    }
    if (pending === undefined || pending.worker !== said.worker) {
      // The capture has gone on without the connection.
      if (said.type === 'reached') this.#release(said.id, said.worker);
      return false;
    }
    if (said.type === 'reached') pending.settle({ ms: said.ms });
    else if (said.type === 'undialled') pending.settle(undefined);
    else return false;
    return true;
  }

  /**
   * Called when a worker has claimed a capture. Returns the time that dialling took, in milliseconds; another worker's
   * connection is closed.
   */
  claimed(id: number, worker: string): number {
    const open = this.#open.get(id);
    if (open === undefined) return 0;
    this.#open.delete(id);
    if (open.worker !== worker) this.#release(id, open.worker);
    return open.ms;
  }

  /** Returns the worker that holds the connection of a capture, and has not closed it yet. */
  holderOf(id: number): string | undefined {
    const open = this.#open.get(id);
    return open !== undefined && performance.now() - open.at < MAX_UNUSED_MS ? open.worker : undefined;
  }

  /** Whether a lost worker may have recorded the end of a capture. */
  isUncertain(id: number): boolean {
    return this.#uncertain.has(id);
  }

  /** Forgets a capture that has ended, and has its connection closed. */
  forget(id: number): void {
    this.#uncertain.delete(id);
    this.claimed(id, '');
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  async #dialAt(
    worker: string,
    command: CaptureCommand,
    leftMs: number,
    attempt: number,
  ): Promise<Found | 'busy' | undefined> {
    const { link, node } = this.#options;
    const { id, signal } = command;
    const body = encodeWithin(link.maxPayload, { type: 'dial', id, node, ...forWorker(command, leftMs, attempt) });
    // Queueing the capture reports that it is too large.
    if (body === undefined) return { ms: 0 };
    const { promise, resolve: settle } = Promise.withResolvers<Found | undefined>();
    let late = setTimeout(() => settle(undefined), leftMs + GRACE_MS);
    const onAbort = (): void => {
      this.#release(id, worker);
      // The worker says that it has ended the dial, or reports the outcome that it was storing.
      clearTimeout(late);
      late = setTimeout(() => settle(undefined), link.isUp ? GRACE_MS : 0);
    };
    this.#pending.set(id, { worker, settle });
    signal.addEventListener('abort', onAbort, { once: true });
    try {
      const { data } = await link.request(link.subjects.worker(worker), body, ANSWER_MS);
      return decode(FromWorker, data, MAX_SMALL_BYTES).runs ? await promise : 'busy';
    } catch {
      // The worker may dial nevertheless. When it is lost, or NATS is away, it leaves the census shortly.
      return await promise;
    } finally {
      clearTimeout(late);
      this.#pending.delete(id);
      signal.removeEventListener('abort', onAbort);
    }
  }

  /** Returns the worker with the most room for further dials of this node. */
  #choose(): string | undefined {
    const own = new Map<string, number>();
    // Connections that wait there count, so that each worker has some for its next slots.
    for (const { worker } of [...this.#pending.values(), ...this.#open.values()])
      own.set(worker, (own.get(worker) ?? 0) + 1);
    let best: { readonly name: string; readonly used: number } | undefined;
    for (const { name, dials } of this.#options.census.workers) {
      const used = (own.get(name) ?? 0) / dials;
      if (dials > 0 && (best === undefined || used < best.used)) best = { name, used };
    }
    return this.#options.link.isUp ? best?.name : undefined;
  }

  #leaveLostWorkers(): void {
    if (this.#pending.size === 0) return;
    const names = new Set(this.#options.census.workers.map(({ name }) => name));
    for (const { worker, settle } of this.#pending.values()) if (!names.has(worker)) settle(undefined);
  }

  #release(id: number, worker: string): void {
    const { link } = this.#options;
    const message: ToWorker = { type: 'release', id };
    link.publish(link.subjects.worker(worker), encode(message));
  }
}
