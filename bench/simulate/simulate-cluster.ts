import { createRandom } from '../../test/faults/random.ts';
import type { ClusterModel, Simulated } from './cluster-model.ts';
import { EventQueue } from './event-queue.ts';
import { Histogram } from './histogram.ts';
import { Server } from './server.ts';
import { Stream } from './stream.ts';

/** Kinds of events, and what `subject` and `mark` are. */
const ARRIVAL = 0;
/** capture, stream */
const AT_STREAM = 1;
/** capture, stream */
const QUEUED = 2;
/** slot, mark of the slot */
const ENDED = 3;
/** slot, mark of the slot */
const FREE = 4;
const DEATH = 5;
/** capture, stream */
const REDELIVERY = 6;
/** worker */
const REPLACEMENT = 7;

const HOUR = 3600;
/** A worker's tickets are delivered again 10 s after its last heartbeat, which was up to 3 s before its death. */
const REDELIVERY_SECONDS = [7, 10] as const;
const REPLACEMENT_SECONDS = 60;

/**
 * Simulates captures from the request to the end at the worker, in virtual time: an api node publishes the ticket, its
 * stream stores it, a free slot takes it. Api nodes take turns, and so do streams.
 */
export function simulateCluster(model: ClusterModel): Simulated {
  return new Simulation(model).run();
}

class Simulation {
  readonly #model: ClusterModel;
  readonly #random: () => number;
  readonly #events = new EventQueue();
  readonly #apis: readonly Server[];
  readonly #streams: readonly Stream[];
  readonly #deathsPerSecond: number;
  /** Time of the request by capture. */
  readonly #arrivedAt: number[] = [];
  /** Captures that have ended, whose numbers are used again. */
  readonly #spare: number[] = [];
  /** Captures by slot; -1 for none. */
  readonly #running: Int32Array;
  /** The mark of a slot changes when its worker is killed: earlier events about the slot are void then. */
  readonly #marks: Int32Array;
  readonly #isAlive: Uint8Array;
  readonly #wait = new Histogram();
  #arrived = 0;
  #ended = 0;
  #endedInTime = 0;
  #refused = 0;
  #killed = 0;
  #restarted = 0;

  constructor(model: ClusterModel) {
    const { seed, apiNodes, apiSeconds, streams, workers, slots, hourlyDeaths = 0 } = model;
    this.#model = model;
    this.#random = createRandom(seed).next;
    this.#apis = Array.from({ length: apiNodes }, () => new Server(apiSeconds));
    this.#streams = Array.from({ length: streams }, () => new Stream(model));
    this.#deathsPerSecond = (hourlyDeaths * workers) / HOUR;
    this.#running = new Int32Array(workers * slots).fill(-1);
    this.#marks = new Int32Array(workers * slots);
    this.#isAlive = new Uint8Array(workers).fill(1);
  }

  run(): Simulated {
    const { load, workers, slots, warmUpSeconds, seconds } = this.#model;
    const events = this.#events;
    for (let slot = 0; slot < workers * slots; slot += 1) this.#streamOfSlot(slot).offer(slot);
    if ('clients' in load) for (let client = 0; client < load.clients; client += 1) this.#arrive(0);
    else events.add(this.#exponential(load.perSecond), ARRIVAL);
    if (this.#deathsPerSecond > 0) events.add(this.#exponential(this.#deathsPerSecond), DEATH);
    while (events.next() && events.at < warmUpSeconds + seconds) this.#handle();
    return {
      perSecond: this.#endedInTime / seconds,
      arrived: this.#arrived,
      ended: this.#ended,
      refused: this.#refused,
      open: this.#arrivedAt.length - this.#spare.length,
      killed: this.#killed,
      restarted: this.#restarted,
      wait: this.#wait,
      mostFree: Math.max(...this.#streams.map(({ mostFree }) => mostFree)),
      mostInFlight: Math.max(...this.#streams.map(({ mostInFlight }) => mostInFlight)),
    };
  }

  #handle(): void {
    const { at, kind, subject, mark } = this.#events;
    if (kind === ARRIVAL) this.#arriveNext(at);
    else if (kind === AT_STREAM) this.#reachStream(at, subject, mark);
    else if (kind === QUEUED) {
      const stream = item(this.#streams, mark);
      stream.enqueue(subject);
      this.#start(at, stream);
    } else if (kind === ENDED && this.#marks[subject] === mark) this.#end(at, subject);
    else if (kind === FREE && this.#marks[subject] === mark) this.#free(at, subject);
    else if (kind === DEATH) this.#kill(at);
    else if (kind === REDELIVERY) {
      const stream = item(this.#streams, mark);
      this.#restarted += 1;
      stream.redeliver(subject);
      this.#start(at, stream);
    } else if (kind === REPLACEMENT) {
      this.#isAlive[subject] = 1;
      for (const slot of this.#slotsOf(subject)) this.#free(at, slot);
    }
  }

  #arriveNext(at: number): void {
    const { load } = this.#model;
    this.#arrive(at);
    if ('perSecond' in load) this.#events.add(at + this.#exponential(load.perSecond), ARRIVAL);
  }

  #arrive(at: number): void {
    const capture = this.#spare.pop() ?? this.#arrivedAt.length;
    this.#arrivedAt[capture] = at;
    const api = item(this.#apis, this.#arrived % this.#apis.length);
    this.#arrived += 1;
    this.#events.add(api.done(at), AT_STREAM, capture, this.#arrived % this.#streams.length);
  }

  #reachStream(at: number, capture: number, streamNumber: number): void {
    const stream = item(this.#streams, streamNumber);
    if (stream.isFull) {
      this.#refused += 1;
      this.#spare.push(capture);
    } else this.#events.add(stream.accept(at), QUEUED, capture, streamNumber);
  }

  /** Gives tickets of the stream to its free slots. */
  #start(at: number, stream: Stream): void {
    for (let slot = stream.match(); slot !== undefined; slot = stream.match()) {
      const capture = stream.takeCapture();
      this.#running[slot] = capture;
      if (at >= this.#model.warmUpSeconds) this.#wait.add(at - (this.#arrivedAt[capture] ?? at));
      this.#events.add(at + this.#model.serviceSeconds(this.#random), ENDED, slot, this.#marks[slot]);
    }
  }

  #end(at: number, slot: number): void {
    const { load, warmUpSeconds, turnaroundSeconds } = this.#model;
    this.#spare.push(this.#running[slot] ?? -1);
    this.#running[slot] = -1;
    this.#ended += 1;
    if (at >= warmUpSeconds) this.#endedInTime += 1;
    this.#streamOfSlot(slot).acknowledge();
    this.#events.add(at + turnaroundSeconds, FREE, slot, this.#marks[slot]);
    if ('clients' in load) this.#arrive(at);
  }

  #free(at: number, slot: number): void {
    const stream = this.#streamOfSlot(slot);
    stream.offer(slot);
    this.#start(at, stream);
  }

  /** Kills a worker at random, and plans the next death. */
  #kill(at: number): void {
    const [from, to] = REDELIVERY_SECONDS;
    this.#events.add(at + this.#exponential(this.#deathsPerSecond), DEATH);
    const worker = Math.floor(this.#random() * this.#model.workers);
    if (this.#isAlive[worker] === 0) return;
    this.#isAlive[worker] = 0;
    this.#killed += 1;
    for (const slot of this.#slotsOf(worker)) {
      this.#marks[slot] = (this.#marks[slot] ?? 0) + 1;
      this.#streamOfSlot(slot).withdraw(slot);
      const capture = this.#running[slot] ?? -1;
      this.#running[slot] = -1;
      if (capture < 0) continue;
      this.#events.add(at + from + this.#random() * (to - from), REDELIVERY, capture, worker % this.#streams.length);
    }
    this.#events.add(at + REPLACEMENT_SECONDS, REPLACEMENT, worker);
  }

  /** Returns a time between independent events. */
  #exponential(perSecond: number): number {
    return -Math.log(1 - this.#random()) / perSecond;
  }

  *#slotsOf(worker: number): Generator<number> {
    const { slots } = this.#model;
    for (let slot = worker * slots; slot < (worker + 1) * slots; slot += 1) yield slot;
  }

  #streamOfSlot(slot: number): Stream {
    return item(this.#streams, Math.floor(slot / this.#model.slots) % this.#streams.length);
  }
}

function item<T>(items: readonly T[], index: number): T {
  const found = items[index];
  if (found === undefined) throw new Error(`there is no item ${index}`);
  return found;
}
