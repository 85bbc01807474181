import { retryAfterFor } from '../capture/basics/retry-after.ts';
import { CapstanError } from '../capture/errors.ts';
import type { CaptureLimits } from '../capture/operation/limits.ts';
import { createCompletionRate } from '../streams/completion-rate.ts';
import { AwayError, type Link } from './connection.ts';
import { capacityOf, type QueueState, type WorkQueue } from './work-queue.ts';

/** Intervals at which the limits are read, in milliseconds: normally, and while a limit is being lowered. */
const READ_MS = 1_000;
const LOWERING_MS = 100;
/** Time after which every api node knows that a limit is being lowered, and no place is being taken any more. */
const HEARD_MS = 500;

interface LiveLimitsOptions {
  readonly link: Link;
  readonly queue: WorkQueue;
  /** The limits of a cluster that does not exist yet. */
  readonly initial: CaptureLimits;
  readonly onChange: (limits: CaptureLimits) => void;
  readonly onProblem: (problem: unknown) => void;
}

/**
 * The limits of the cluster, as an api node knows them. They are stored in the configuration of the stream. The process
 * that changes them notifies the others, which then read them again.
 *
 * JetStream drops places when their maximum number is set below what the stream holds. To lower it, the nodes therefore
 * take no place until few enough are in use. Then any one of the nodes lowers it.
 */
export class LiveLimits {
  readonly #options: LiveLimitsOptions;
  readonly #rate = createCompletionRate();
  #limits: CaptureLimits;
  #state: QueueState | undefined;
  #loweringSince: number | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isStopped = false;
  #reading: Promise<void> | undefined;

  constructor(options: LiveLimitsOptions) {
    this.#options = options;
    this.#limits = options.initial;
    options.link.subscribe(options.link.subjects.limits, () => void this.#readAndPlan());
  }

  /** Reads the limits now and from now on. Call it when the stream exists. */
  start(): void {
    void this.#readAndPlan();
  }

  get current(): CaptureLimits {
    return this.#limits;
  }

  get isLowering(): boolean {
    return this.#loweringSince !== undefined;
  }

  /** Changes the limits of the whole cluster. Rejects with `cluster_unavailable`. */
  async set(limits: CaptureLimits): Promise<CaptureLimits> {
    const { link, queue } = this.#options;
    try {
      await queue.announce(limits);
      link.publish(link.subjects.limits);
      await this.#read();
    } catch (error) {
      throw new CapstanError('cluster_unavailable', undefined, { cause: error });
    }
    return this.#limits;
  }

  /**
   * Returns the error for a capture when `capacity` captures are admitted. `share`: the places that single captures of
   * this api node may take while batches wait.
   */
  full(capacity: number, share?: number): CapstanError {
    const admitted = Math.max(this.#state?.places ?? 0, this.isLowering ? 0 : (share ?? capacity));
    const reason =
      share === undefined || share === capacity
        ? `The queue of the cluster is full: ${capacity} captures may be admitted.`
        : `The queue of the cluster is shared with batches: ${share} of ${capacity} captures may be single ones of this api node.`;
    return new CapstanError('queue_full', reason, {
      retryAfterSeconds: retryAfterFor(admitted * this.#rate.msPerCompletion()),
    });
  }

  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#timer);
  }

  async #readAndPlan(): Promise<void> {
    clearTimeout(this.#timer);
    try {
      await this.#read();
      await this.#lower();
    } catch (error) {
      if (!(error instanceof AwayError)) this.#options.onProblem(error);
    }
    clearTimeout(this.#timer);
    if (this.#isStopped) return;
    this.#timer = setTimeout(() => void this.#readAndPlan(), this.isLowering ? LOWERING_MS : READ_MS);
    this.#timer.unref();
  }

  #read(): Promise<void> {
    this.#reading ??= this.#readState().finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
  }

  async #readState(): Promise<void> {
    const { queue, onChange } = this.#options;
    const state = await queue.state();
    this.#measure(state);
    this.#state = state;
    const isLowering = state.capacity > capacityOf(state.limits);
    this.#loweringSince = isLowering ? (this.#loweringSince ?? performance.now()) : undefined;
    const { maxConcurrent, maxQueue } = state.limits;
    if (maxConcurrent === this.#limits.maxConcurrent && maxQueue === this.#limits.maxQueue) return;
    this.#limits = state.limits;
    onChange(state.limits);
  }

  async #lower(): Promise<void> {
    const { link, queue } = this.#options;
    if (this.#state === undefined || this.#loweringSince === undefined) return;
    const capacity = capacityOf(this.#limits);
    if (this.#state.places > capacity || performance.now() - this.#loweringSince < HEARD_MS) return;
    await queue.lower(capacity);
    link.publish(link.subjects.limits);
    await this.#read();
  }

  /** Updates the completion rate. Every removed ticket counts as a completion. */
  #measure({ tickets, removed }: QueueState): void {
    const saturated = (this.#state?.tickets ?? 0) >= this.#limits.maxConcurrent && tickets > 0;
    const completed = Math.max(0, removed - (this.#state?.removed ?? removed));
    this.#rate.note(performance.now(), saturated, completed);
  }
}
