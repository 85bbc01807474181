import type { CaptureCommand } from '../capture/command.ts';
import { CapstanError } from '../capture/errors.ts';
import type { CaptureLimits } from '../capture/operation/limits.ts';
import { Backlog } from './backlog.ts';
import type { Census } from './census.ts';
import { AwayError, type Link } from './connection.ts';
import type { LiveLimits } from './live-limits.ts';
import { limitsOfWorkers, type NodeLoad, shareOfSingles, shareOfTickets, usefulTickets } from './shares.ts';
import { Ticket } from './ticket.ts';
import { TicketReconciler } from './ticket-reconciler.ts';
import type { TicketStream } from './ticket-stream.ts';
import { capacityOf, type WorkQueue } from './work-queue.ts';

export interface TicketsOptions {
  readonly link: Link;
  readonly queue: WorkQueue;
  readonly limits: LiveLimits;
  readonly census: Census;
  /** Name of this api node. */
  readonly node: string;
  readonly onProblem: (problem: unknown) => void;
}

/**
 * The tickets of an api node: one for each capture, from its admission to the queue of the cluster until its end. A
 * single capture takes one of the queue's places first. Owners take turns; at most the node's share is published at
 * once.
 */
export class Tickets {
  readonly #options: TicketsOptions;
  /** By the id of their capture, and by that of the capture that their message names. */
  readonly #tickets = new Map<number, Ticket>();
  readonly #named = new Map<number, Ticket>();
  readonly #backlog: Backlog;
  readonly #reconciler: TicketReconciler;
  #running = 0;
  #items = 0;

  constructor(options: TicketsOptions) {
    this.#options = options;
    this.#backlog = new Backlog({
      hasRoom: () => this.#hasRoom(),
      publish: (ticket) => this.#publish(ticket),
      // The other nodes hear at once that this one needs a share.
      onFull: () => options.census.announceAtOnce(),
    });
    this.#reconciler = new TicketReconciler({ ...options, tickets: this.#tickets });
  }

  get running(): number {
    return this.#running;
  }

  get waiting(): number {
    return this.#tickets.size - this.#running;
  }

  get load(): NodeLoad {
    return { singles: this.#tickets.size - this.#items, items: this.#items };
  }

  /** Number of tickets that keep the workers busy. */
  get maxPerBatch(): number {
    return usefulTickets(this.#limits, this.#options.census.slots);
  }

  /** Returns the ticket of a capture. */
  of(id: number): Ticket | undefined {
    return this.#tickets.get(id);
  }

  /** Returns the ticket whose message names a capture. */
  named(id: number): Ticket | undefined {
    return this.#named.get(id);
  }

  values(): MapIterator<Ticket> {
    return this.#tickets.values();
  }

  stop(): void {
    this.#reconciler.stop();
  }

  /**
   * Queues a capture. Resolves when a single capture has its place, and when the ticket of an item, which waits for
   * room, is published. `claims`: number of workers that may have stored the capture.
   */
  async add(command: CaptureCommand, owner: string | null, isItem: boolean, claims: number): Promise<void> {
    const { link, node, limits } = this.#options;
    const { subjects } = link;
    const { id, signal } = command;
    const ticket = new Ticket(command, subjects.work(node, id), subjects.place(node, id), isItem);
    if (!isItem) this.#checkShare();
    ticket.claims = claims;
    this.#tickets.set(id, ticket);
    this.#named.set(id, ticket);
    if (isItem) this.#items += 1;
    try {
      if (isItem) await this.#backlog.add(ticket, owner);
      else if (!(await this.#takePlace(ticket))) throw limits.full(capacityOf(limits.current));
      signal.throwIfAborted();
      if (!isItem) this.#publishInTurn(ticket, owner);
    } catch (error) {
      this.drop(ticket);
      if (signal.aborted) throw signal.reason;
      // Whether it was queued is unknown.
      throw error instanceof CapstanError
        ? error
        : new CapstanError('cluster_unavailable', undefined, { cause: error });
    }
  }

  /** Begins the capture of a ticket that a worker has claimed. `deadline`: on the clock of `performance.now`. */
  begin(ticket: Ticket, deadline: number): void {
    ticket.deadline = deadline;
    this.#running += 1;
    ticket.begin();
  }

  /** Exchanges the messages of two tickets: the worker that takes one of them gets the other capture. */
  exchange(one: Ticket, other: Ticket): void {
    one.exchange(other);
    for (const each of [one, other]) this.#named.set(each.named, each);
  }

  /** Forgets a ticket. Removes it from the stream unless a worker has it, which will acknowledge it. */
  drop(ticket: Ticket): void {
    if (!this.#tickets.delete(ticket.command.id)) return;
    if (this.#named.get(ticket.named) === ticket) this.#named.delete(ticket.named);
    ticket.left.resolve();
    if (ticket.isItem) this.#items -= 1;
    if (ticket.deadline !== undefined) this.#running -= 1;
    if (ticket.isPublished) this.#backlog.free();
    if (ticket.worker === undefined && !this.leadsToOther(ticket)) this.#remove(ticket);
    this.#removeFrom(this.#options.queue.places, ticket.placeSubject, ticket.place);
  }

  /**
   * Whether the message of a ticket names the capture of another one, to whose record it leads if that one's worker and
   * this node are lost.
   */
  leadsToOther({ named, command }: Ticket): boolean {
    return named !== command.id && this.#tickets.has(named);
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
    const hasItems = [this.load, ...nodes].some(({ items }) => items > 0);
    throw limits.full(capacityOf(this.#limits), hasItems ? share : undefined);
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
}
