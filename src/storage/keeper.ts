import type { Result } from '../domain.ts';
import { CapstanError } from '../errors.ts';
import type { FileArtifactStore, StagedCapture } from './files/file-artifact-store.ts';
import { htmlPath, imagePath } from './files/layout.ts';
import { writeFailure } from './files/write-failure.ts';
import type { Outbox } from './outbox.ts';
import { createRemover, type Removed, type Remover } from './remover.ts';
import type { DetailedResult, ResultStore } from './result-store.ts';

const FIRST_RETRY_MS = 200;
const LONGEST_RETRY_MS = 5000;
/** Records that are written together once the database is known to be back. */
const LARGEST_DRAIN = 64;
const MAX_OUTBOX = 10_000;

/** What a browser gave of a page. */
export interface Picture {
  readonly image: Uint8Array;
  readonly html: string;
}

export interface KeeperOptions {
  readonly artifacts: FileArtifactStore;
  readonly results: ResultStore;
  readonly outbox: Outbox;
  /** Most records that may wait for the database. */
  readonly maxOutbox?: number;
  /** Called with what nobody waits for: a record that the database refuses, files that cannot be removed. */
  readonly onProblem?: (problem: unknown) => void;
}

/** Joins artifacts and records: what it says is kept survives a crash, files and record together. */
export interface Keeper {
  /** Records that wait on the disk for the database. */
  readonly pending: number;
  /** Takes over what processes left that are gone. Rejects when the data directory cannot be used. */
  start(): Promise<void>;
  /**
   * Keeps a capture, its files, record and evidence, and gives the record with the paths of what was stored. A record that cannot be written because
   * the database is away waits on the disk, which counts as kept. Rejects with `storage_full`, with `internal`, or with
   * `database_unavailable` when too many wait already; nothing of the capture is left then.
   */
  keep(capture: DetailedResult, picture: Picture | null): Promise<Result>;
  /**
   * Removes captures, records and files together; what is being read can be read on. Rejects with
   * `database_unavailable` or `internal`: nothing is removed then, or the rest of it a little later.
   */
  remove(ids: readonly number[]): Promise<Removed>;
  /** Whether anything of a capture is there. Rejects with `database_unavailable`. */
  has(id: number): Promise<boolean>;
  close(): Promise<void>;
}

export function createKeeper(options: KeeperOptions): Keeper {
  return new OutboxKeeper(options);
}

class OutboxKeeper implements Keeper {
  readonly #artifacts: FileArtifactStore;
  readonly #results: ResultStore;
  readonly #outbox: Outbox;
  readonly #remover: Remover;
  readonly #maxOutbox: number;
  readonly #onProblem: (problem: unknown) => void;

  /** Ids of the records that wait, in the order in which they came. */
  readonly #waiting = new Set<number>();
  #underway = 0;
  #adopted = false;
  #timer: NodeJS.Timeout | undefined;
  #draining: Promise<void> | undefined;
  #retryMs = FIRST_RETRY_MS;
  #closed = false;

  constructor({ artifacts, results, outbox, maxOutbox = MAX_OUTBOX, onProblem = () => {} }: KeeperOptions) {
    this.#artifacts = artifacts;
    this.#results = results;
    this.#outbox = outbox;
    this.#remover = createRemover({ artifacts, results, outbox });
    this.#maxOutbox = maxOutbox;
    this.#onProblem = onProblem;
  }

  get pending(): number {
    return this.#waiting.size;
  }

  async start(): Promise<void> {
    try {
      await this.#adopt();
    } catch (error) {
      // A full disk is no reason not to start: it is tried again, and captures say what is wrong.
      if (writeFailure(error).code !== 'storage_full') throw error;
      this.#onProblem(error);
    }
    this.#schedule(0);
  }

  async keep(capture: DetailedResult, picture: Picture | null): Promise<Result> {
    this.#admit();
    this.#underway += 1;
    try {
      if (picture === null) {
        await this.#keepRecord(capture);
        return withoutEvidence(capture);
      }
      const record = { ...capture, screenshot: imagePath(capture.id), html: htmlPath(capture.id) };
      if (this.#results.kind === 'none') await this.#artifacts.put(record, picture.image, picture.html);
      else await this.#keepCapture(record, picture);
      return withoutEvidence(record);
    } finally {
      this.#underway -= 1;
    }
  }

  async remove(ids: readonly number[]): Promise<Removed> {
    try {
      return await this.#remover.remove(ids);
    } finally {
      if (this.#remover.unfinished > 0) this.#schedule(this.#retryMs);
    }
  }

  has(id: number): Promise<boolean> {
    return this.#remover.has(id);
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    await this.#draining;
  }

  #admit(): void {
    if (this.#results.kind === 'none' || !this.#isAway) return;
    if (this.#waiting.size + this.#underway < this.#maxOutbox) return;
    throw new CapstanError(
      'database_unavailable',
      `The database is away, and ${this.#maxOutbox} records wait for it, which is the most.`,
    );
  }

  /** Newer records do not overtake those that wait. */
  get #isAway(): boolean {
    return this.#waiting.size > 0 || this.#results.state === 'down';
  }

  /** A failed capture: there are no files that a crash could leave without their record. */
  async #keepRecord(record: DetailedResult): Promise<void> {
    if (this.#results.kind === 'none') return;
    if (!this.#isAway && (await this.#insert(record))) return;
    await this.#outbox.add(record);
    this.#wait(record.id);
  }

  /**
   * The record is in the outbox before the files appear, and leaves it when the database has it. After a crash, a
   * record in the outbox whose files are there is written; one whose files did not appear was never answered.
   */
  async #keepCapture(record: DetailedResult, { image, html }: Picture): Promise<void> {
    const [staging, noting] = await Promise.allSettled([
      this.#artifacts.stage(record, image, html),
      this.#outbox.add(record),
    ]);
    const staged = staging.status === 'fulfilled' ? staging.value : undefined;
    try {
      if (staging.status === 'rejected') throw staging.reason;
      if (noting.status === 'rejected') throw noting.reason;
      await staged?.publish();
      if (!this.#isAway && (await this.#insert(record))) await this.#inserted(record.id);
      else this.#wait(record.id);
    } catch (error) {
      await this.#undo(record.id, staged);
      throw error;
    }
  }

  /** The record goes last: until then a crash leaves something that the next start understands. */
  async #undo(id: number, staged: StagedCapture | undefined): Promise<void> {
    await staged?.discard().catch(this.#onProblem);
    await this.#forget(id);
  }

  /** False when the database is away. */
  async #insert(record: DetailedResult): Promise<boolean> {
    try {
      await this.#results.insert(withoutEvidence(record), record.evidence);
      return true;
    } catch (error) {
      if (error instanceof CapstanError && error.code === 'database_unavailable') return false;
      throw error;
    }
  }

  /** A record that was withdrawn from the outbox meanwhile was to be removed, and came too late for that. */
  async #inserted(id: number): Promise<void> {
    try {
      if (await this.#outbox.remove(id)) return;
      this.#remover.takeOver([await this.#outbox.intend([id])]);
      this.#schedule(0);
    } catch (error) {
      this.#onProblem(error);
    }
  }

  /** A record that stays in the outbox is written again by the next start, which changes nothing. */
  async #forget(id: number): Promise<void> {
    await this.#outbox.remove(id).catch(this.#onProblem);
  }

  #wait(id: number): void {
    this.#waiting.add(id);
    this.#schedule(this.#retryMs);
  }

  #schedule(delayMs: number): void {
    if (this.#closed || this.#timer !== undefined || this.#draining !== undefined) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#draining = this.#drain().finally(() => {
        this.#draining = undefined;
        if (this.#hasWork) this.#schedule(this.#retryMs);
      });
    }, delayMs);
    this.#timer.unref();
  }

  get #hasWork(): boolean {
    return this.#waiting.size > 0 || this.#remover.unfinished > 0 || !this.#adopted;
  }

  async #drain(): Promise<void> {
    try {
      if (!this.#adopted) await this.#adopt();
      // What cannot be removed does not keep records from being written.
      const removing = await this.#remover.finish().then(
        () => undefined,
        (error: unknown) => ({ error }),
      );
      // One at first: a database that is away costs one wait, not one for each record.
      let together = 1;
      while (this.#waiting.size > 0 && !this.#closed) {
        const ids = [...this.#waiting].slice(0, together);
        // Read before any is written: they are written in their order, not in that in which the disk gives them.
        const records = await Promise.all(ids.map((id) => this.#read(id)));
        const written = await Promise.all(ids.map((id, at) => this.#deliver(id, records[at])));
        if (written.includes(false)) throw new CapstanError('database_unavailable');
        together = Math.min(together * 4, LARGEST_DRAIN);
        this.#retryMs = FIRST_RETRY_MS;
      }
      if (removing !== undefined) throw removing.error;
      this.#retryMs = FIRST_RETRY_MS;
    } catch (error) {
      if (!(error instanceof CapstanError)) this.#onProblem(error);
      this.#retryMs = Math.min(this.#retryMs * 2, LONGEST_RETRY_MS);
    }
  }

  /** One that cannot be read must not keep the others waiting for ever. */
  async #read(id: number): Promise<DetailedResult | undefined> {
    try {
      return await this.#outbox.read(id);
    } catch (error) {
      this.#onProblem(error);
      await this.#outbox.setAside(id).catch(this.#onProblem);
      return undefined;
    }
  }

  /** False when the database is away. */
  async #deliver(id: number, record: DetailedResult | undefined): Promise<boolean> {
    try {
      if (record !== undefined) {
        if (!(await this.#insert(record))) return false;
        await this.#inserted(id);
      }
    } catch (error) {
      this.#onProblem(error);
      await this.#outbox.setAside(id).catch(this.#onProblem);
    }
    this.#waiting.delete(id);
    return true;
  }

  async #adopt(): Promise<void> {
    if (this.#results.kind === 'none') await this.#outbox.sweep();
    else {
      const { records, removals } = await this.#outbox.adopt(
        async (record) => record.screenshot === '' || (await this.#artifacts.has(record.id)),
      );
      for (const id of records) this.#waiting.add(id);
      this.#remover.takeOver(removals);
    }
    this.#adopted = true;
  }
}

function withoutEvidence({ evidence: _evidence, ...result }: DetailedResult): Result {
  return result;
}
