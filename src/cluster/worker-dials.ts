import type { CaptureCommand } from '../capture/command.ts';
import { type Dialled, MAX_UNUSED_MS, type Unreached } from '../capture/dialled.ts';
import { CapstanError } from '../capture/errors.ts';
import type { CaptureOutcome } from '../capture/outcome.ts';
import { requestFromStore } from '../capture/work/stored-request.ts';
import type { ToNode, ToWorker } from './messages.ts';

interface WorkerDialsOptions {
  /** Returns the maximum number of dials at once; 0: none. */
  readonly limit: () => number;
  /** As `WorkerOptions.dial`. Neither it nor an outcome rejects. */
  readonly dial: (command: CaptureCommand) => Promise<Dialled | Unreached>;
  /** Returns the outcome of a capture that was stored by an earlier attempt. */
  readonly findEarlier: (id: number, attempt: number) => Promise<CaptureOutcome | undefined>;
  /** Sends a message to an api node. */
  readonly tell: (node: string, message: ToNode & { readonly type: 'reached' | 'undialled' }) => void;
  /** Reports that a target was not reached. */
  readonly report: (node: string, id: number, outcome: CaptureOutcome, batch: string | null) => Promise<void>;
  readonly worker: string;
}

type Asked = ToWorker & { readonly type: 'dial' };

interface Dial {
  readonly controller: AbortController;
  dialled?: Dialled;
  expiry?: NodeJS.Timeout;
}

/** The worker's dials ahead of its slots, and the connections that wait for the tickets of their captures. */
export class WorkerDials {
  readonly #options: WorkerDialsOptions;
  readonly #dials = new Map<number, Dial>();
  #dialling = 0;
  #isStopping = false;

  constructor(options: WorkerDialsOptions) {
    this.#options = options;
  }

  /** Maximum number of dials at once, as the worker announces it. */
  get limit(): number {
    return this.#isStopping ? 0 : this.#options.limit();
  }

  /** Begins a dial, whose result is sent to its api node. False when there is no room for it. */
  begin(asked: Asked): boolean {
    // The api node repeats a question whose answer was lost.
    const known = this.#dials.get(asked.id);
    if (known?.dialled !== undefined) this.#tellReached(asked, known.dialled);
    if (known !== undefined) return true;
    if (this.#dialling >= this.limit) return false;
    void this.#dial(asked);
    return true;
  }

  /** Returns the connection of a capture that has a slot now; undefined when there is none. */
  take(id: number): Dialled | undefined {
    const dial = this.#dials.get(id);
    if (dial?.dialled === undefined) return undefined;
    clearTimeout(dial.expiry);
    this.#dials.delete(id);
    return dial.dialled;
  }

  /** Ends the dial of a capture, or closes its connection. */
  release(id: number): void {
    this.#dials.get(id)?.controller.abort(new CapstanError('cancelled'));
    this.take(id)?.close();
  }

  /** Begins no more dials. Those under way are left to other workers. */
  stop(): void {
    this.#isStopping = true;
    for (const id of [...this.#dials.keys()]) this.release(id);
  }

  async #dial({ id, node, leftMs, attempt, request, ...of }: Asked): Promise<void> {
    const { dial, findEarlier, report, tell, worker } = this.#options;
    const controller = new AbortController();
    const { signal } = controller;
    const entry: Dial = { controller };
    this.#dials.set(id, entry);
    this.#dialling += 1;
    const undialled = { type: 'undialled', id, worker } as const;
    const command = { id, request: { ...requestFromStore(request), timeoutMs: leftMs }, ...of, signal };
    const earlier = await findEarlier(id, attempt);
    const found = earlier === undefined ? await dial(command) : { outcome: Promise.resolve(earlier) };
    this.#dialling -= 1;
    if ('outcome' in found) {
      // The place of the dial is free while the record is stored.
      const outcome = await found.outcome;
      this.#dials.delete(id);
      return outcome.state === 'cancelled' ? tell(node, undialled) : report(node, id, outcome, of.batch);
    }
    if (signal.aborted) {
      this.#dials.delete(id);
      found.close();
      return tell(node, undialled);
    }
    entry.dialled = found;
    entry.expiry = setTimeout(() => this.release(id), MAX_UNUSED_MS).unref();
    this.#tellReached({ node, id }, found);
  }

  #tellReached({ node, id }: Pick<Asked, 'node' | 'id'>, { ms }: Dialled): void {
    const { tell, worker } = this.#options;
    tell(node, { type: 'reached', id, worker, ms });
  }
}
