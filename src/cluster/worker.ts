import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Msg } from '@nats-io/transport-node';
import { catchError, defer, finalize, mergeMap, type ObservableInput, of } from 'rxjs';
import type { CaptureCommand } from '../capture/command.ts';
import type { Dialled, Unreached } from '../capture/dialled.ts';
import { CapstanError } from '../capture/errors.ts';
import { type CaptureOutcome, outcomeOfAbort, outcomeOfError } from '../capture/outcome.ts';
import { requestFromStore } from '../capture/work/stored-request.ts';
import type { Link } from './connection.ts';
import { type Announcement, decode, encode, type FromNode, ToWorker } from './messages.ts';
import { NodeCalls } from './node-calls.ts';
import { type Delivery, Pulls } from './pulls.ts';
import { ticketOf } from './subjects.ts';
import { ACK_WAIT_MS } from './work-queue.ts';
import { WorkerDials } from './worker-dials.ts';

/** Interval at which a worker reports that it still works on a ticket, in milliseconds. */
const HEARTBEAT_MS = 3_000;
/** Delay before a ticket whose api node cannot be reached is delivered again, in milliseconds. */
const RETRY_MS = 1_000;
/** Delay before a ticket is delivered to the worker that holds its connection, whose slots may be claiming others. */
const PASS_MS = 5;
/** Number of deliveries after which such a ticket is dropped. Its api node, if still running, publishes it again. */
const MAX_DELIVERIES = 5;

export interface WorkerOptions {
  readonly link: Link;
  readonly slots: number;
  /**
   * Captures a page and stores it, within the request's `timeoutMs`. Emits the outcome, and completes when the slot is
   * free. `abort` cancels the command.
   */
  readonly capture: (command: CaptureCommand, abort: (reason: CapstanError) => void) => ObservableInput<CaptureOutcome>;
  /** Connects to the target of a capture, or ends the capture and stores its record. Rejects when it is cancelled. */
  readonly dial: (command: CaptureCommand) => Promise<Dialled | Unreached>;
  /** Returns the maximum number of targets that are dialled at once ahead of the slots. */
  readonly maxDials: () => number;
  /** Returns the outcome of a capture that was stored by an earlier attempt. Rejects while the database is away. */
  readonly findOutcome: (id: number) => Promise<CaptureOutcome | undefined>;
  /** Logs the end of a capture, if it has a record, because its api node may not log it. Resolves when it is stored. */
  readonly logEnd: (outcome: CaptureOutcome, batch: string | null) => Promise<void>;
  /** Returns the number of captures that wait on this worker for the database. */
  readonly outbox: () => number;
  /** Called before the report of a capture that waits for the database. */
  readonly onOutbox: () => void;
  readonly onMissing: () => void;
  readonly onProblem: (problem: unknown) => void;
}

/** A ticket that this worker has. */
interface Work {
  /** The capture that it runs: the one that the ticket names, until the claim says otherwise. */
  capture: number;
  /** The newest delivery of the ticket. */
  delivery: Delivery;
  readonly controller: AbortController;
  /** Whether the ticket was returned to the queue for another worker. */
  isReturned: boolean;
  readonly ended: Promise<void>;
}

/** Takes tickets from the work queue, one for each free slot, and runs the captures that their api nodes request. */
export class Worker {
  readonly name = randomBytes(8).toString('hex');
  readonly #options: WorkerOptions;
  readonly #pulls: Pulls;
  readonly #works = new Map<number, Work>();
  readonly #dials: WorkerDials;
  readonly #nodes: NodeCalls;
  /** Tickets that were acknowledged recently, and when. */
  readonly #acknowledged: { readonly delivery: Delivery; readonly at: number }[] = [];
  #slots: number;
  #maxRunning = Number.POSITIVE_INFINITY;
  #capturing = 0;
  #isStopping = false;
  readonly #stopped = Promise.withResolvers<void>();

  constructor(options: WorkerOptions) {
    this.#options = options;
    this.#slots = options.slots;
    const { link, onMissing, onProblem } = options;
    this.#nodes = new NodeCalls(link, this.name);
    this.#dials = new WorkerDials({
      worker: this.name,
      limit: options.maxDials,
      dial: async (command) => {
        const failed = (error: unknown): CaptureOutcome => {
          if (command.signal.aborted) return outcomeOfAbort(command.signal);
          onProblem(error);
          return outcomeOfError(error);
        };
        try {
          const found = await options.dial(command);
          return 'outcome' in found ? { outcome: found.outcome.catch(failed) } : found;
        } catch (error) {
          return { outcome: Promise.resolve(failed(error)) };
        }
      },
      findEarlier: (id, attempt) => this.#findEarlier(id, attempt),
      tell: (node, message) => this.#nodes.tell(node, message),
      report: (node, id, outcome, batch) => this.#reportDead(node, id, outcome, batch),
    });
    link.subscribe(link.subjects.worker(this.name), (message) => this.#answer(message));
    this.#pulls = new Pulls({
      link,
      room: () => this.#room,
      onTicket: (delivery) => {
        this.#take(delivery).catch(onProblem);
      },
      onMissing,
    });
    link.observe((isUp) => {
      if (!isUp) return;
      // The server may have received no heartbeat for a while.
      for (const { delivery } of this.#works.values()) delivery.working();
      // A server that was killed has forgotten the newest acknowledgements, and would count these tickets as running.
      for (const { delivery } of this.#acknowledged) delivery.ack();
    });
  }

  get slots(): number {
    return this.#slots;
  }

  get announcement(): Announcement & { readonly kind: 'worker' } {
    return {
      kind: 'worker',
      name: this.name,
      slots: this.#slots,
      dials: this.#dials.limit,
      outbox: this.#options.outbox(),
    };
  }

  /** Captures in progress. */
  get running(): number {
    return this.#capturing;
  }

  setSlots(slots: number): void {
    this.#slots = slots;
    this.#pulls.refill();
  }

  /** Takes no ticket while `maxRunning` captures are running; null removes this limit. */
  setOverload(maxRunning: number | null): void {
    this.#maxRunning = maxRunning ?? Number.POSITIVE_INFINITY;
    this.#pulls.refill();
  }

  /** Call it after each connection, when the stream and its consumer exist. */
  start(): void {
    this.#pulls.ready();
  }

  /** Takes no more tickets. Captures in progress have `graceMs` to end; the rest is returned to the queue. */
  async stop(graceMs: number): Promise<void> {
    this.#isStopping = true;
    this.#dials.stop();
    await this.#pulls.stop();
    const grace = new AbortController();
    const ended = Promise.all([...this.#works.values()].map((work) => work.ended)).then(() => grace.abort());
    await delay(graceMs, undefined, { signal: grace.signal }).catch(() => undefined);
    this.#stopped.resolve();
    for (const work of this.#works.values()) {
      work.isReturned = true;
      work.controller.abort(new CapstanError('shutting_down'));
    }
    await ended;
  }

  get #room(): number {
    return this.#isStopping ? 0 : Math.min(this.#slots, this.#maxRunning) - this.#capturing;
  }

  #answer(message: Msg): void {
    const asked = decode(ToWorker, message.data);
    if (asked.type === 'release') {
      this.#dials.release(asked.id);
      return;
    }
    message.respond(encode({ runs: this.#runs(asked) }));
  }

  #runs(asked: Exclude<ToWorker, { readonly type: 'release' }>): boolean {
    if (asked.type === 'dial') return this.#dials.begin(asked);
    const work = this.#works.values().find(({ capture }) => capture === asked.id);
    if (asked.type === 'cancel') work?.controller.abort(new CapstanError('cancelled'));
    return work !== undefined;
  }

  async #take(delivery: Delivery): Promise<void> {
    const { node, id } = ticketOf(delivery.subject);
    const underWay = this.#works.get(id);
    if (underWay !== undefined) {
      // The server considered this worker lost and delivered the ticket again: the new delivery is acknowledged.
      underWay.delivery = delivery;
      return;
    }
    if (this.#room < 1) return delivery.nak();
    const { promise: ended, resolve: end } = Promise.withResolvers<void>();
    const work: Work = { capture: id, delivery, controller: new AbortController(), isReturned: false, ended };
    this.#works.set(id, work);
    const heartbeat = setInterval(() => work.delivery.working(), HEARTBEAT_MS);
    try {
      await this.#work(node, id, work);
    } finally {
      clearInterval(heartbeat);
      this.#works.delete(id);
      this.#pulls.refill();
      end();
    }
  }

  /** `named`: the capture that the ticket names. */
  async #work(node: string, named: number, work: Work): Promise<void> {
    this.#capturing += 1;
    const free = (): void => {
      this.#capturing -= 1;
      this.#pulls.refill();
    };
    const claim = await this.#nodes.claim(node, named);
    if (claim?.type !== 'run') {
      free();
      if (claim?.type === 'elsewhere') return work.delivery.nak(PASS_MS);
      const isLost = claim === undefined && work.delivery.times < MAX_DELIVERIES;
      if (isLost || claim?.type === 'busy') return work.delivery.nak(RETRY_MS);
      return this.#acknowledgeLogged(work, () => this.#logFound(named));
    }
    const { id } = claim;
    work.capture = id;
    const outcome = await this.#outcomeOf(claim, work, free);
    // Api nodes know that the capture is on its way before a client can ask for it.
    if (this.#options.outbox() > 0) this.#options.onOutbox();
    if (work.isReturned && outcome.state === 'cancelled') {
      await this.#nodes.giveBack(node, id);
      return work.delivery.nak();
    }
    const answer = await this.#nodes.report(node, id, outcome, () => work.isReturned);
    if (answer === 'noted') return this.#acknowledge(work);
    // The ticket leads to the record of another capture, which still runs.
    if (answer === 'busy') return work.delivery.nak(RETRY_MS);
    if (answer === 'gone') return this.#acknowledgeLogged(work, () => this.#options.logEnd(outcome, claim.batch));
    void this.#options.logEnd(outcome, claim.batch);
    // The next worker finds the record of the capture, or finds that no api node waits for it.
    work.delivery.nak(RETRY_MS);
  }

  /** Logs the end of a capture that a lost worker may have stored. */
  async #logFound(id: number): Promise<void> {
    const found = await this.#options.findOutcome(id);
    if (found !== undefined) await this.#options.logEnd(found, null);
  }

  /** Acknowledges a ticket when its capture's event is stored. Until then, it leads other workers to the record. */
  async #acknowledgeLogged(work: Work, log: () => Promise<void>): Promise<void> {
    const logged = log().then(
      () => true,
      () => false,
    );
    if (await Promise.race([logged, this.#stopped.promise])) this.#acknowledge(work);
    else work.delivery.nak(RETRY_MS);
  }

  /** Reports a target that was not reached. Logs the end of its capture if its api node has ended. */
  async #reportDead(node: string, id: number, outcome: CaptureOutcome, batch: string | null): Promise<void> {
    if (this.#options.outbox() > 0) this.#options.onOutbox();
    const answer = await this.#nodes.report(node, id, outcome);
    if (answer !== 'noted') await this.#options.logEnd(outcome, batch);
  }

  #acknowledge({ delivery }: Work): void {
    const now = performance.now();
    const isOld = (one: { readonly at: number } | undefined) => one !== undefined && now - one.at > ACK_WAIT_MS;
    while (isOld(this.#acknowledged[0])) this.#acknowledged.shift();
    this.#acknowledged.push({ delivery, at: now });
    delivery.ack();
  }

  /** Resolves with the outcome. `free` is called when the next capture may begin, which may be later. */
  #outcomeOf(claim: FromNode & { type: 'run' }, work: Work, free: () => void): Promise<CaptureOutcome> {
    const { capture, onProblem } = this.#options;
    const { controller } = work;
    const { id, batch, apiKeyName, requestId } = claim;
    const begin = (): ObservableInput<CaptureOutcome> => {
      const dialled = this.#dials.take(id);
      // The time that dialling took is not in `leftMs`, and the capture subtracts it.
      const timeoutMs = claim.leftMs + Math.round(dialled?.ms ?? 0);
      const request = { ...requestFromStore(claim.request), timeoutMs };
      const command = { id, request, batch, apiKeyName, requestId, signal: controller.signal, dialled };
      return capture(command, (reason) => controller.abort(reason));
    };
    const outcome$ = defer(() => this.#findEarlier(id, claim.attempt)).pipe(
      mergeMap((stored) => (stored === undefined ? begin() : of(stored))),
      catchError((error: unknown) => {
        onProblem(error);
        return of(outcomeOfError(error));
      }),
      finalize(free),
    );
    return new Promise((resolve) => outcome$.subscribe(resolve));
  }

  /** Returns the outcome that an earlier attempt has stored; undefined while the database is away, too. */
  async #findEarlier(id: number, attempt: number): Promise<CaptureOutcome | undefined> {
    return attempt > 1 ? this.#options.findOutcome(id).catch(() => undefined) : undefined;
  }
}
