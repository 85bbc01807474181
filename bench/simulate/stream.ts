import { Server } from './server.ts';

export interface StreamLimits {
  readonly streamSeconds: number;
  readonly maxConcurrent: number;
  readonly maxQueue: number;
}

/** The tickets of one stream and the free slots that wait for them. */
export class Stream {
  readonly #server: Server;
  readonly #limits: StreamLimits;
  readonly #waiting = new Fifo();
  /** Captures whose worker was killed: they go first, and are still in flight. */
  readonly #returned: number[] = [];
  readonly #free: number[] = [];
  readonly #isFree = new Set<number>();
  #inFlight = 0;
  #entering = 0;
  #next: 'returned' | 'waiting' = 'waiting';
  #mostFree = 0;
  #mostInFlight = 0;

  constructor(limits: StreamLimits) {
    this.#limits = limits;
    this.#server = new Server(limits.streamSeconds);
  }

  get mostFree(): number {
    return this.#mostFree;
  }

  get mostInFlight(): number {
    return this.#mostInFlight;
  }

  /** Whether it refuses tickets: as many are stored as may run and wait together. */
  get isFull(): boolean {
    const { maxConcurrent, maxQueue } = this.#limits;
    return this.#entering + this.#waiting.size + this.#inFlight >= maxConcurrent + maxQueue;
  }

  /** Returns when a ticket that arrives now is stored. */
  accept(at: number): number {
    this.#entering += 1;
    return this.#server.done(at);
  }

  enqueue(capture: number): void {
    this.#entering -= 1;
    this.#waiting.add(capture);
  }

  redeliver(capture: number): void {
    this.#returned.push(capture);
  }

  acknowledge(): void {
    this.#inFlight -= 1;
  }

  /** A slot waits for a ticket. */
  offer(slot: number): void {
    this.#isFree.add(slot);
    this.#free.push(slot);
  }

  /** The worker of the slot was killed. */
  withdraw(slot: number): void {
    this.#isFree.delete(slot);
  }

  /** Takes a free slot for the next ticket; undefined when there is no slot, or no ticket that may start. */
  match(): number | undefined {
    this.#mostFree = Math.max(this.#mostFree, this.#isFree.size);
    if (this.#returned.length > 0) this.#next = 'returned';
    else if (this.#waiting.size > 0 && this.#inFlight < this.#limits.maxConcurrent) this.#next = 'waiting';
    else return undefined;
    for (let slot = this.#free.pop(); slot !== undefined; slot = this.#free.pop()) {
      if (this.#isFree.delete(slot)) return slot;
    }
    return undefined;
  }

  /** Takes the ticket for the slot that `match` returned. */
  takeCapture(): number {
    if (this.#next === 'returned') return this.#returned.shift() ?? -1;
    this.#inFlight += 1;
    this.#mostInFlight = Math.max(this.#mostInFlight, this.#inFlight);
    return this.#waiting.take();
  }
}

/** A queue of numbers. */
class Fifo {
  #items: number[] = [];
  #head = 0;

  get size(): number {
    return this.#items.length - this.#head;
  }

  add(item: number): void {
    this.#items.push(item);
  }

  take(): number {
    const item = this.#items[this.#head] ?? -1;
    this.#head += 1;
    if (this.#head > 1024 && this.#head * 2 > this.#items.length) {
      this.#items = this.#items.slice(this.#head);
      this.#head = 0;
    }
    return item;
  }
}
