import { randomBytes } from 'node:crypto';
import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises';
import type { Msg } from '@nats-io/transport-node';
import { mergeMap, Observable } from 'rxjs';
import type { CaptureCommand } from '../capture/command.ts';
import type { Dialled } from '../capture/dialled.ts';
import { CapstanError, failure } from '../capture/errors.ts';
import type { Evidence } from '../capture/evidence.ts';
import type { CaptureLimits } from '../capture/limits.ts';
import type { CaptureOutcome } from '../capture/outcome.ts';
import type { Turns } from '../streams/turns.ts';
import { Backlog } from './backlog.ts';
import type { Census } from './census.ts';
import { AwayError, type Link } from './connection.ts';
import type { LiveLimits } from './live-limits.ts';
import {
  decode,
  encode,
  encodeWithin,
  type FromNode,
  FromWorker,
  forWorker,
  HEAD_BYTES,
  MAX_SMALL_BYTES,
  type ReportedOutcome,
  ToNode,
  type ToWorker,
} from './messages.ts';
import { RemoteDials } from './remote-dials.ts';
import { limitsOfWorkers, type NodeLoad, shareOfSingles, shareOfTickets, usefulTickets } from './shares.ts';
import { TicketReconciler } from './ticket-reconciler.ts';
import type { TicketStream } from './ticket-stream.ts';
import { Ticket } from './tickets.ts';
import { capacityOf, type WorkQueue } from './work-queue.ts';

/** Number of lost workers after which the capture that they ran fails. */
const MAX_LOST = 3;
/** Number of times that a ticket is passed on. The idle slots of all workers are asked in turn. */
const MAX_PASSES = 16;
/** Time limit for a worker's answer, in milliseconds. */
const WORKER_TIMEOUT_MS = 1_000;
/** Time that a worker has to report the end of a cancelled capture, in milliseconds. */
const CANCEL_MS = 2_000;

export interface DispatcherOptions {
  readonly link: Link;
  readonly queue: WorkQueue;
  readonly limits: LiveLimits;
  readonly census: Census;
  /** Reads the evidence of a stored capture that was too large for a message. */
  readonly evidenceOf: (id: number) => Promise<Evidence | null>;
  /** Resolves when the events that were emitted so far are stored. */
  readonly eventsStored: () => Promise<void>;
  readonly onProblem: (problem: unknown) => void;
}

/**
 * The api node's side of the work queue: publishes a ticket for each capture, hands the request to the worker that
 * claims the ticket, and waits for its report. Only the api node decides how a capture ends.
 */
export class Dispatcher {
  readonly name = randomBytes(8).toString('hex');
  readonly #options: DispatcherOptions;
  /** By the id of their capture, and by that of the capture that their message names. */
  readonly #tickets = new Map<number, Ticket>();
  readonly #named = new Map<number, Ticket>();
  readonly #backlog: Backlog;
  readonly #reconciler: TicketReconciler;
  readonly #dials: RemoteDials;
  #running = 0;
  #elements = 0;

  constructor(options: DispatcherOptions) {
    this.#options = options;
    this.#backlog = new Backlog({
      hasRoom: () => this.#hasRoom(),
      publish: (ticket) => this.#publish(ticket),
      // The other nodes hear at once that this one needs a share.
      onFull: () => options.census.announceAtOnce(),
    });
    this.#dials = new RemoteDials({ ...options, node: this.name });
    options.link.subscribe(options.link.subjects.node(this.name), (message) => this.#answer(message));
    this.#reconciler = new TicketReconciler({
      ...options,
      node: this.name,
      tickets: this.#tickets,
    });
  }

  get running(): number {
    return this.#running;
  }

  get waiting(): number {
    return this.#tickets.size - this.#running;
  }

  get load(): NodeLoad {
    return { singles: this.#tickets.size - this.#elements, elements: this.#elements };
  }

  /** Whether a worker dials targets before the tickets of their captures are published. */
  get areDialsAvailable(): boolean {
    return this.#dials.areAvailable;
  }

  /** See `RemoteDials`. */
  dial(command: CaptureCommand): Promise<Dialled | CaptureOutcome> {
    return this.#dials.dial(command);
  }

  /** The queue of the cluster, as the pipeline sees it. */
  get turns(): Turns {
    return {
      enqueue: (command, owner, isPatient) => this.#enqueue(command, owner, isPatient),
      refusal: () => (this.#options.link.isUp ? undefined : new CapstanError('cluster_unavailable')),
      // The stream's consumer holds the limit: it delivers no more tickets than captures may run in the cluster.
      each: (work) => mergeMap((capture) => this.#inTurn(capture.command, work(capture))),
      setLimit: () => {},
      maxReached: () => usefulTickets(this.#limits, this.#options.census.slots),
    };
  }

  /** Waits for the outcome of a capture that a worker has claimed. Rejects with the reason of the command's signal. */
  perform(command: CaptureCommand): Promise<CaptureOutcome> {
    return new Promise((resolve, reject) => {
      const { signal } = command;
      const ticket = this.#tickets.get(command.id);
      if (ticket === undefined) return reject(new CapstanError('cluster_unavailable'));
      const onAbort = (): void => {
        void this.#cancel(ticket).then(() => reject(signal.reason));
      };
      ticket.settle = (outcome) => {
        signal.removeEventListener('abort', onAbort);
        resolve(outcome);
      };
      signal.addEventListener('abort', onAbort, { once: true });
    });
  }

  stop(): void {
    this.#reconciler.stop();
    this.#dials.stop();
  }

  async #enqueue(command: CaptureCommand, owner: string | null, isPatient: boolean): Promise<void> {
    const { link, limits } = this.#options;
    const { subjects } = link;
    if (!link.isUp && !isPatient) throw new CapstanError('cluster_unavailable');
    this.#checkSize(command);
    const { id } = command;
    const ticket = new Ticket(command, subjects.work(this.name, id), subjects.place(this.name, id), isPatient);
    if (!isPatient) this.#checkShare();
    // A worker may have stored the capture.
    if (this.#dials.isUncertain(id)) ticket.claims = 1;
    this.#tickets.set(id, ticket);
    this.#named.set(id, ticket);
    if (isPatient) this.#elements += 1;
    const { signal } = command;
    try {
      if (isPatient) await this.#backlog.add(ticket, owner);
      else if (!(await this.#takePlace(ticket))) throw limits.full(capacityOf(limits.current));
      signal.throwIfAborted();
      if (!isPatient) this.#publishInTurn(ticket, owner);
    } catch (error) {
      this.#drop(ticket);
      if (signal.aborted) throw signal.reason;
      throw error instanceof CapstanError ? error : away(error);
    }
  }

  /** The limits of the cluster for the workers that are there. */
  get #limits(): CaptureLimits {
    const { limits, census } = this.#options;
    return limitsOfWorkers(limits.current, census.slots);
  }

  /** @throws `queue_full` when this node's share of single captures is used up. */
  #checkShare(): void {
    const { limits, census } = this.#options;
    const nodes = census.otherLoads;
    const share = shareOfSingles(this.#limits, this.load, nodes, capacityOf(limits.current));
    if (this.load.singles < share) return;
    const isShared = [this.load, ...nodes].some(({ elements }) => elements > 0);
    throw limits.full(capacityOf(this.#limits), isShared ? share : undefined);
  }

  /** Takes a place of the queue. False when it is full. */
  async #takePlace(ticket: Ticket): Promise<boolean> {
    if (this.#options.limits.isLowering) return false;
    ticket.place = 0;
    ticket.place = await this.#options.queue.places.publish(ticket.placeSubject);
    return ticket.place !== undefined;
  }

  /** Publishes the ticket of a capture that has a place when it is its owner's turn, unless it ends before. */
  #publishInTurn(ticket: Ticket, owner: string | null): void {
    const published = this.#backlog.add(ticket, owner).then(() => {
      // The capture may have been cancelled while its ticket was on its way.
      if (!this.#tickets.has(ticket.command.id) && ticket.worker === undefined) this.#remove(ticket);
    });
    published.catch((error: unknown) => {
      if (!ticket.command.signal.aborted) this.#options.onProblem(error);
    });
  }

  /** Whether this node may publish another ticket. */
  #hasRoom(): boolean {
    const { census } = this.#options;
    let published = 0;
    for (const { isPublished } of this.#tickets.values()) if (isPublished) published += 1;
    return published < shareOfTickets(this.#limits, census.slots, census.otherLoads);
  }

  async #publish(ticket: Ticket): Promise<void> {
    // A worker may claim the ticket before the server confirms that it is stored.
    ticket.sequence = 0;
    const sequence = await this.#options.queue.tickets.publish(ticket.subject);
    if (sequence === undefined) throw new Error('NATS cannot store a ticket');
    ticket.sequence = sequence;
    ticket.isPublished = true;
  }

  /** Starts the work of a capture when a worker has claimed its ticket, unless the capture is cancelled before. */
  #inTurn<R>({ id, signal }: Pick<CaptureCommand, 'id' | 'signal'>, work$: Observable<R>): Observable<R> {
    return new Observable((subscriber) => {
      const ticket = this.#tickets.get(id);
      const leave = () => subscriber.complete();
      subscriber.add(() => {
        if (ticket !== undefined) this.#drop(ticket);
      });
      if (signal.aborted) return leave();
      signal.addEventListener('abort', leave, { once: true });
      ticket?.enter(() => {
        signal.removeEventListener('abort', leave);
        subscriber.add(work$.subscribe(subscriber));
      });
    });
  }

  /** Forgets a ticket. Removes it from the stream unless a worker has it, which will acknowledge it. */
  #drop(ticket: Ticket): void {
    if (!this.#tickets.delete(ticket.command.id)) return;
    if (this.#named.get(ticket.named) === ticket) this.#named.delete(ticket.named);
    ticket.left.resolve();
    if (ticket.isElement) this.#elements -= 1;
    if (ticket.deadline !== undefined) this.#running -= 1;
    if (ticket.isPublished) this.#backlog.free();
    if (ticket.worker === undefined && !this.#leadsToOther(ticket)) this.#remove(ticket);
    this.#removeFrom(this.#options.queue.places, ticket.placeSubject, ticket.place);
  }

  #remove({ subject, sequence }: Ticket): void {
    this.#removeFrom(this.#options.queue.tickets, subject, sequence);
  }

  #removeFrom(stream: TicketStream, subject: string, sequence: number | undefined): void {
    if (sequence === undefined) return;
    stream.remove(subject, sequence).catch((error: unknown) => {
      // Removed later: by the reconciler, or by a worker whose claim is refused and which acknowledges the ticket.
      if (!(error instanceof AwayError)) this.#options.onProblem(error);
    });
  }

  async #answer(message: Msg): Promise<void> {
    const reply = (answer: FromNode) => void message.respond(encode(answer));
    const asked = decode(ToNode, message.data);
    const isOfDial = this.#dials.hear(asked);
    if (asked.type === 'reached' || asked.type === 'undialled') return;
    if (isOfDial) {
      // The pipeline ends the capture, and emits its events, within this turn of the event loop.
      await nextTurn();
      await this.#options.eventsStored();
      return reply({ type: 'noted' });
    }
    if (asked.type === 'claim') return reply(await this.#claimed(asked.id, asked.worker));
    const ticket = this.#tickets.get(asked.id);
    if (asked.type === 'return' && ticket?.worker === asked.worker) ticket.worker = undefined;
    if (asked.type !== 'report') return reply({ type: 'noted' });
    // The worker logs the end of a capture that nobody waits for.
    if (ticket === undefined) return reply({ type: 'gone' });
    ticket.settle(await this.#complete(asked.id, asked.outcome));
    // The first outcome counts, even of a worker that counted as lost: its replacement is cancelled.
    if (ticket.worker !== asked.worker) void this.#tellToCancel(ticket);
    await ticket.left.promise;
    await this.#options.eventsStored();
    reply({ type: this.#leadsToOther(ticket) ? 'busy' : 'noted' });
  }

  /**
   * Whether the message of a ticket names the capture of another one, to whose record it leads if that one's worker and
   * this node are lost.
   */
  #leadsToOther({ named, command }: Ticket): boolean {
    return named !== command.id && this.#tickets.has(named);
  }

  /** `named`: the capture that the worker's ticket names. */
  async #claimed(named: number, worker: string): Promise<FromNode> {
    await this.#named.get(named)?.entered.promise;
    const claimed = this.#named.get(named);
    if (claimed === undefined) return { type: this.#tickets.has(named) ? 'busy' : 'gone' };
    const ticket = this.#atItsConnection(claimed, worker);
    if (ticket === undefined) return { type: 'elsewhere' };
    const { command, worker: before } = ticket;
    if (before !== undefined) {
      if (before !== worker && (await this.#ask(before, { type: 'runs', id: command.id }))) return { type: 'busy' };
      // Another worker may have claimed the ticket meanwhile.
      if (ticket.worker !== before) return { type: 'busy' };
      ticket.lost += 1;
    }
    if (command.signal.aborted || !this.#tickets.has(command.id)) return { type: 'gone' };
    if (ticket.lost >= MAX_LOST) {
      ticket.settle({ state: 'failed', failure: failure('worker_lost'), result: null });
      return { type: 'gone' };
    }
    ticket.worker = worker;
    ticket.claims += 1;
    if (ticket.deadline === undefined) {
      ticket.deadline = performance.now() + command.request.timeoutMs - this.#dials.claimed(command.id, worker);
      this.#running += 1;
      ticket.begin();
    }
    const leftMs = Math.ceil(ticket.deadline - performance.now());
    if (leftMs <= 0) {
      ticket.settle({ state: 'timed_out', failure: failure('capture_timeout'), result: null });
      return { type: 'gone' };
    }
    return { type: 'run', id: command.id, ...forWorker(command, leftMs, ticket.claims) };
  }

  /**
   * Returns the ticket that a worker gets, so that targets see no second connection: another one of the same API key
   * whose connection it holds, or, as undefined, none while the worker that holds it has a slot. With all slots taken and
   * no such ticket, the worker connects itself.
   */
  #atItsConnection(ticket: Ticket, worker: string): Ticket | undefined {
    const { limits, census } = this.#options;
    const { id, apiKeyName } = ticket.command;
    const holder = census.workers.find(({ name, dials }) => name === this.#dials.holderOf(id) && dials > 0);
    if (!ticket.isWaiting || holder === undefined || holder.name === worker) return ticket;
    // A message that leads to another capture stays until that one has ended, and counts as one that runs.
    const mayExchange = limits.current.maxConcurrent >= 2 * census.slots;
    const tickets = [...this.#tickets.values()];
    const other = tickets.find(
      (each) =>
        each.isWaiting && each.command.apiKeyName === apiKeyName && this.#dials.holderOf(each.command.id) === worker,
    );
    if (mayExchange && other !== undefined) {
      ticket.exchange(other);
      for (const each of [ticket, other]) this.#named.set(each.named, each);
      return other;
    }
    const used = tickets.filter((each) => each.worker === holder.name).length;
    if (used >= holder.slots || ticket.passes >= MAX_PASSES) return ticket;
    ticket.passes += 1;
    return undefined;
  }

  /** Cancels a capture that a worker has claimed. The worker's report still counts when it comes in time. */
  async #cancel(ticket: Ticket): Promise<void> {
    const until = performance.now() + CANCEL_MS;
    if (await this.#tellToCancel(ticket)) await delay(Math.max(0, until - performance.now()));
  }

  /** Asks the worker to cancel the capture. Returns whether the worker was running it. */
  async #tellToCancel({ worker, command: { id } }: Ticket): Promise<boolean> {
    return worker !== undefined && (await this.#ask(worker, { type: 'cancel', id }));
  }

  /** Returns whether a worker is running a capture; false when it does not answer. */
  async #ask(worker: string, question: ToWorker): Promise<boolean> {
    const { link } = this.#options;
    try {
      const { data } = await link.request(link.subjects.worker(worker), encode(question), WORKER_TIMEOUT_MS);
      return decode(FromWorker, data, MAX_SMALL_BYTES).runs;
    } catch {
      return false;
    }
  }

  async #complete(id: number, outcome: ReportedOutcome): Promise<CaptureOutcome> {
    if (outcome.state !== 'stored') return outcome;
    const { isEvidenceStored, ...reported } = outcome;
    return isEvidenceStored ? { ...reported, evidence: await this.#options.evidenceOf(id) } : reported;
  }

  /** @throws `payload_too_large` for a request that no message can carry. */
  #checkSize(command: CaptureCommand): void {
    const { maxPayload } = this.#options.link;
    const run = { type: 'run' as const, id: command.id, ...forWorker(command, 1, 1) };
    // Avoids encoding almost every request: compression never makes a request larger than this bound.
    if (JSON.stringify(run.request).length * 3 + HEAD_BYTES <= maxPayload) return;
    if (encodeWithin(maxPayload, run) !== undefined) return;
    throw new CapstanError(
      'payload_too_large',
      `The request takes ${encode(run).length} bytes in a message of the cluster, whose NATS server accepts ${maxPayload}.`,
    );
  }
}

/** Returns the error for a ticket that was not, or perhaps not, queued. */
function away(cause: unknown): CapstanError {
  return new CapstanError('cluster_unavailable', undefined, { cause });
}
