import { randomBytes } from 'node:crypto';
import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises';
import type { Msg } from '@nats-io/transport-node';
import { mergeMap, Observable } from 'rxjs';
import type { CaptureCommand } from '../capture/command.ts';
import { CapstanError, failure } from '../capture/errors.ts';
import type { CaptureOutcome } from '../capture/outcome.ts';
import type { Evidence } from '../capture/result/evidence.ts';
import type { CaptureQueue } from '../streams/capture-queue.ts';
import {
  type Announcement,
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
import type { Ticket } from './ticket.ts';
import { Tickets, type TicketsOptions } from './tickets.ts';

/** Number of lost workers after which the capture that they ran fails. */
const MAX_LOST = 3;
/** Number of times that a ticket is passed on. The idle slots of all workers are asked in turn. */
const MAX_PASSES = 16;
/** Time limit for a worker's answer, in milliseconds. */
const WORKER_TIMEOUT_MS = 1_000;
/** Time that a worker has to report the end of a cancelled capture, in milliseconds. */
const CANCEL_MS = 2_000;

export interface DispatcherOptions extends Omit<TicketsOptions, 'node'> {
  /** Reads the evidence of a stored capture that was too large for a message. */
  readonly evidenceOf: (id: number) => Promise<Evidence | null>;
  /** Resolves when the events that were emitted so far are stored. */
  readonly eventsStored: () => Promise<void>;
}

/**
 * The api node's side of the work queue: queues a ticket for each capture, hands the request to the worker that claims
 * the ticket, and waits for its report. Only the api node decides how a capture ends.
 */
export class Dispatcher {
  readonly name = randomBytes(8).toString('hex');
  readonly #options: DispatcherOptions;
  readonly tickets: Tickets;
  /** Dials of targets before the tickets of their captures are published. */
  readonly dials: RemoteDials;

  constructor(options: DispatcherOptions) {
    this.#options = options;
    this.tickets = new Tickets({ ...options, node: this.name });
    this.dials = new RemoteDials({ ...options, node: this.name });
    options.link.subscribe(options.link.subjects.node(this.name), (message) => this.#answer(message));
  }

  get announcement(): Announcement & { readonly kind: 'node' } {
    const { running, waiting, load } = this.tickets;
    return { kind: 'node', name: this.name, running, waiting, items: load.items };
  }

  /** The queue of the cluster, as the pipeline sees it. */
  get captureQueue(): CaptureQueue {
    return {
      enqueue: (command, owner, isItem) => this.#enqueue(command, owner, isItem),
      refusal: () => (this.#options.link.isUp ? undefined : new CapstanError('cluster_unavailable')),
      // The stream's consumer holds the limit: it delivers no more tickets than captures may run in the cluster.
      each: (work) => mergeMap((capture) => this.#inTurn(capture.command, work(capture))),
      setLimit: () => {},
      maxPerBatch: () => this.tickets.maxPerBatch,
    };
  }

  /** Waits for the outcome of a capture that a worker has claimed. Rejects with the reason of the command's signal. */
  perform(command: CaptureCommand): Promise<CaptureOutcome> {
    return new Promise((resolve, reject) => {
      const { signal } = command;
      const ticket = this.tickets.of(command.id);
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
    this.tickets.stop();
    this.dials.stop();
  }

  async #enqueue(command: CaptureCommand, owner: string | null, isItem: boolean): Promise<void> {
    if (!this.#options.link.isUp && !isItem) throw new CapstanError('cluster_unavailable');
    this.#checkSize(command);
    // A worker may have stored the capture of an uncertain dial.
    await this.tickets.add(command, owner, isItem, this.dials.isUncertain(command.id) ? 1 : 0);
  }

  /** Starts the work of a capture when a worker has claimed its ticket, unless the capture is cancelled before. */
  #inTurn<R>({ id, signal }: Pick<CaptureCommand, 'id' | 'signal'>, work$: Observable<R>): Observable<R> {
    return new Observable((subscriber) => {
      const ticket = this.tickets.of(id);
      const leave = () => subscriber.complete();
      subscriber.add(() => {
        if (ticket !== undefined) this.tickets.drop(ticket);
      });
      if (signal.aborted) return leave();
      signal.addEventListener('abort', leave, { once: true });
      ticket?.enter(() => {
        signal.removeEventListener('abort', leave);
        subscriber.add(work$.subscribe(subscriber));
      });
    });
  }

  async #answer(message: Msg): Promise<void> {
    const reply = (answer: FromNode) => void message.respond(encode(answer));
    const asked = decode(ToNode, message.data);
    const isOfDial = this.dials.hear(asked);
    if (asked.type === 'reached' || asked.type === 'undialled') return;
    if (isOfDial) {
      // The pipeline ends the capture, and emits its events, within this turn of the event loop.
      await nextTurn();
      await this.#options.eventsStored();
      return reply({ type: 'noted' });
    }
    if (asked.type === 'claim') return reply(await this.#claimed(asked.id, asked.worker));
    const ticket = this.tickets.of(asked.id);
    if (asked.type === 'return' && ticket?.worker === asked.worker) ticket.worker = undefined;
    if (asked.type !== 'report') return reply({ type: 'noted' });
    // The worker logs the end of a capture that nobody waits for.
    if (ticket === undefined) return reply({ type: 'gone' });
    ticket.settle(await this.#complete(asked.id, asked.outcome));
    // The first outcome counts, even of a worker that counted as lost: its replacement is cancelled.
    if (ticket.worker !== asked.worker) void this.#tellToCancel(ticket);
    await ticket.left.promise;
    await this.#options.eventsStored();
    reply({ type: this.tickets.leadsToOther(ticket) ? 'busy' : 'noted' });
  }

  /** `named`: the capture that the worker's ticket names. */
  async #claimed(named: number, worker: string): Promise<FromNode> {
    await this.tickets.named(named)?.entered.promise;
    const claimed = this.tickets.named(named);
    if (claimed === undefined) return { type: this.tickets.of(named) === undefined ? 'gone' : 'busy' };
    const ticket = this.#atItsConnection(claimed, worker);
    if (ticket === undefined) return { type: 'elsewhere' };
    const { command, worker: before } = ticket;
    if (before !== undefined) {
      if (before !== worker && (await this.#ask(before, { type: 'runs', id: command.id }))) return { type: 'busy' };
      // Another worker may have claimed the ticket meanwhile.
      if (ticket.worker !== before) return { type: 'busy' };
      ticket.lost += 1;
    }
    if (command.signal.aborted || this.tickets.of(command.id) === undefined) return { type: 'gone' };
    if (ticket.lost >= MAX_LOST) {
      ticket.settle({ state: 'failed', failure: failure('worker_lost'), result: null });
      return { type: 'gone' };
    }
    ticket.worker = worker;
    ticket.claims += 1;
    const deadline = ticket.deadline ?? this.#begin(ticket, worker);
    const leftMs = Math.ceil(deadline - performance.now());
    if (leftMs <= 0) {
      ticket.settle({ state: 'timed_out', failure: failure('capture_timeout'), result: null });
      return { type: 'gone' };
    }
    return { type: 'run', id: command.id, ...forWorker(command, leftMs, ticket.claims) };
  }

  /** Begins a capture that a worker has claimed. Returns its deadline. */
  #begin(ticket: Ticket, worker: string): number {
    const { id, request } = ticket.command;
    const deadline = performance.now() + request.timeoutMs - this.dials.claimed(id, worker);
    this.tickets.begin(ticket, deadline);
    return deadline;
  }

  /**
   * Returns the ticket that a worker gets, so that targets see no second connection. When another worker holds the
   * connection of this one, it gets another ticket of the same API key, whose connection it holds itself. Undefined:
   * it gets none, because the worker with the connection has a slot. When all slots of that one are taken and there is
   * no other ticket, it gets this one, and connects itself.
   */
  #atItsConnection(ticket: Ticket, worker: string): Ticket | undefined {
    const { limits, census } = this.#options;
    const { id, apiKeyName } = ticket.command;
    const holder = census.workers.find(({ name, dials }) => name === this.dials.holderOf(id) && dials > 0);
    if (!ticket.isWaiting || holder === undefined || holder.name === worker) return ticket;
    // A message that leads to another capture stays until that one has ended, and counts as one that runs.
    const mayExchange = limits.current.maxConcurrent >= 2 * census.slots;
    const tickets = [...this.tickets.values()];
    const other = tickets.find(
      (each) =>
        each.isWaiting && each.command.apiKeyName === apiKeyName && this.dials.holderOf(each.command.id) === worker,
    );
    if (mayExchange && other !== undefined) {
      this.tickets.exchange(ticket, other);
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
