import { CapstanError } from '../../capture/errors.ts';
import type { DetailedResult } from '../../capture/result.ts';
import type { ArtifactStore } from '../artifact-store.ts';
import { isAway } from '../is-away.ts';
import type { Outbox } from '../outbox.ts';
import { withoutEvidence } from '../records/record.ts';
import type { ResultStore } from '../result-store.ts';
import { BackgroundPasses } from './background-passes.ts';
import type { Remover } from './remover.ts';

/** Records that are written together once the database is known to be back. */
const MAX_DRAIN = 64;

export interface OutboxDeliveryOptions {
  readonly artifacts: ArtifactStore;
  readonly results: ResultStore;
  readonly outbox: Outbox;
  readonly remover: Remover;
  readonly onProblem: (problem: unknown) => void;
}

/** Delivers the outbox to the database, however long that takes: records in their order, and removals. */
export class OutboxDelivery {
  readonly #artifacts: ArtifactStore;
  readonly #results: ResultStore;
  readonly #outbox: Outbox;
  readonly #remover: Remover;
  readonly #onProblem: (problem: unknown) => void;
  readonly #passes = new BackgroundPasses(
    () => this.#drain(),
    () => this.#waiting.size > 0 || this.#remover.unfinished > 0 || !this.#adopted,
  );

  /** Ids of the waiting records, in the order of their arrival. */
  readonly #waiting = new Set<number>();
  #adopted = false;

  constructor({ artifacts, results, outbox, remover, onProblem }: OutboxDeliveryOptions) {
    this.#artifacts = artifacts;
    this.#results = results;
    this.#outbox = outbox;
    this.#remover = remover;
    this.#onProblem = onProblem;
  }

  /** Number of waiting records. */
  get pending(): number {
    return this.#waiting.size;
  }

  /** Newer records do not overtake waiting ones. */
  get isAway(): boolean {
    return this.#waiting.size > 0 || this.#results.state === 'down' || this.#results.state === 'damaged';
  }

  /** Takes over what ended processes left. */
  async adopt(): Promise<void> {
    if (this.#results.kind === 'none') await this.#outbox.sweep();
    else {
      const { records, removals } = await this.#outbox.adopt(
        async (record) => record.artifacts === null || (await this.#artifacts.has(record.id)),
      );
      for (const id of records) this.#waiting.add(id);
      this.#remover.takeOver(removals);
    }
    this.#adopted = true;
  }

  /** Starts with what is in the outbox. */
  start(): void {
    this.#passes.plan(0);
  }

  stop(): Promise<void> {
    return this.#passes.stop();
  }

  /** Writes a record now. False when the database is away. */
  async write(record: DetailedResult): Promise<boolean> {
    return !this.isAway && (await this.#insert(record));
  }

  /** Queues a record that is in the outbox. */
  wait(id: number): void {
    this.#waiting.add(id);
    this.#passes.plan();
  }

  /**
   * Notes that the database has a record of the outbox. A record that was withdrawn from the outbox meanwhile was to be
   * removed, and is removed from the database now.
   */
  async written(id: number): Promise<void> {
    try {
      if (await this.#outbox.remove(id)) return;
      this.#remover.takeOver([await this.#outbox.intend([id])]);
      this.#passes.plan(0);
    } catch (error) {
      this.#onProblem(error);
    }
  }

  /** Completes unfinished removals later. */
  finishRemovals(): void {
    if (this.#remover.unfinished > 0) this.#passes.plan();
  }

  async #insert(record: DetailedResult): Promise<boolean> {
    try {
      await this.#results.insert(withoutEvidence(record), record.evidence);
      return true;
    } catch (error) {
      if (isAway(error)) return false;
      throw error;
    }
  }

  async #drain(): Promise<void> {
    try {
      if (!this.#adopted) await this.adopt();
      // A removal that fails must not keep records from being written.
      const removing = await this.#remover.finish().then(
        () => undefined,
        (error: unknown) => ({ error }),
      );
      await this.#deliverAll();
      if (removing !== undefined) throw removing.error;
    } catch (error) {
      if (!(error instanceof CapstanError)) this.#onProblem(error);
      throw error;
    }
  }

  async #deliverAll(): Promise<void> {
    // One record at first: a database that is away costs one wait, not one per record.
    let together = 1;
    while (this.#waiting.size > 0 && !this.#passes.stopped) {
      const ids = [...this.#waiting].slice(0, together);
      // All records are read before any is written, so that they are written in order and not as the disk returns them.
      const records = await Promise.all(ids.map((id) => this.#read(id)));
      const written = await Promise.all(ids.map((id, at) => this.#deliver(id, records[at])));
      if (written.includes(false)) throw new CapstanError('database_unavailable');
      together = Math.min(together * 4, MAX_DRAIN);
      this.#passes.succeeded();
    }
  }

  /** An unreadable record must not block the others forever. */
  async #read(id: number): Promise<DetailedResult | undefined> {
    try {
      return await this.#outbox.read(id);
    } catch (error) {
      await this.#setAside(id, error);
      return undefined;
    }
  }

  /** False when the database is away. */
  async #deliver(id: number, record: DetailedResult | undefined): Promise<boolean> {
    try {
      if (record !== undefined) {
        if (!(await this.#insert(record))) return false;
        await this.written(id);
      }
    } catch (error) {
      await this.#setAside(id, error);
    }
    this.#waiting.delete(id);
    return true;
  }

  async #setAside(id: number, why: unknown): Promise<void> {
    this.#onProblem(why);
    await this.#outbox.setAside(id).catch(this.#onProblem);
  }
}
