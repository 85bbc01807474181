import { CapstanError } from '../../capture/errors.ts';
import type { DetailedResult } from '../../capture/result.ts';
import { ARTIFACT_KINDS, type Result } from '../../capture/result.ts';
import type { ArtifactStore, Picture, StagedCapture } from '../artifact-store.ts';
import { putCapture } from '../artifact-store.ts';
import type { Outbox } from '../outbox.ts';
import { withoutEvidence } from '../records/record.ts';
import type { ResultStore } from '../result-store.ts';
import { writeFailure } from '../write-failure.ts';
import { OutboxDelivery } from './outbox-delivery.ts';
import { createRemover, type Removed, type Remover } from './remover.ts';

const MAX_OUTBOX = 10_000;

export interface CaptureStoreOptions {
  readonly artifacts: ArtifactStore;
  readonly results: ResultStore;
  readonly outbox: Outbox;
  /** Maximum number of records that may wait for the database. */
  readonly maxOutbox?: number;
  /** Reports failures in the background: a record that the database refuses, files that cannot be removed. */
  readonly onProblem?: (problem: unknown) => void;
}

/** Joins artifacts and records: a capture that was reported as stored survives a crash, files and record together. */
export interface CaptureStore {
  /** Number of records on disk that wait for the database. */
  readonly pending: number;
  /** Takes over what ended processes left. Rejects when the data directory cannot be used. */
  start(): Promise<void>;
  /**
   * Stores a capture (files, record and evidence) and returns the record with the names of its artifacts. While the
   * database is away the record waits on disk, which counts as stored. Rejects with `storage_full`, `internal`, or
   * `database_unavailable` when too many records wait; then nothing of the capture is left.
   */
  keep(capture: DetailedResult, picture: Picture | null): Promise<Result>;
  /**
   * Removes captures, records and files together; open artifacts stay readable. Rejects with `database_unavailable` or
   * `internal`: then nothing is removed, or the rest of it later.
   */
  remove(ids: readonly number[]): Promise<Removed>;
  /** Returns whether anything of a capture exists. Rejects with `database_unavailable`. */
  has(id: number): Promise<boolean>;
  close(): Promise<void>;
}

export function createCaptureStore(options: CaptureStoreOptions): CaptureStore {
  return new OutboxCaptureStore(options);
}

class OutboxCaptureStore implements CaptureStore {
  readonly #artifacts: ArtifactStore;
  readonly #results: ResultStore;
  readonly #outbox: Outbox;
  readonly #remover: Remover;
  readonly #delivery: OutboxDelivery;
  readonly #maxOutbox: number;
  readonly #onProblem: (problem: unknown) => void;
  #underway = 0;

  constructor({ artifacts, results, outbox, maxOutbox = MAX_OUTBOX, onProblem = () => {} }: CaptureStoreOptions) {
    this.#artifacts = artifacts;
    this.#results = results;
    this.#outbox = outbox;
    this.#remover = createRemover({ artifacts, results, outbox });
    this.#delivery = new OutboxDelivery({ artifacts, results, outbox, remover: this.#remover, onProblem });
    this.#maxOutbox = maxOutbox;
    this.#onProblem = onProblem;
  }

  get pending(): number {
    return this.#delivery.pending;
  }

  async start(): Promise<void> {
    try {
      await this.#delivery.adopt();
    } catch (error) {
      // A full disk must not prevent the start: this is retried, and captures report the problem.
      if (writeFailure(error).code !== 'storage_full') throw error;
      this.#onProblem(error);
    }
    this.#delivery.start();
  }

  async keep(capture: DetailedResult, picture: Picture | null): Promise<Result> {
    this.#admit();
    this.#underway += 1;
    try {
      if (picture === null) {
        await this.#keepRecord(capture);
        return withoutEvidence(capture);
      }
      const record = { ...capture, artifacts: { store: await this.#storeId(), kinds: ARTIFACT_KINDS } };
      if (this.#results.kind === 'none') await putCapture(this.#artifacts, record, picture);
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
      this.#delivery.finishRemovals();
    }
  }

  has(id: number): Promise<boolean> {
    return this.#remover.has(id);
  }

  close(): Promise<void> {
    return this.#delivery.stop();
  }

  async #storeId(): Promise<string> {
    try {
      return await this.#artifacts.id();
    } catch (error) {
      throw writeFailure(error);
    }
  }

  #admit(): void {
    if (this.#results.kind === 'none' || !this.#delivery.isAway) return;
    if (this.#delivery.pending + this.#underway < this.#maxOutbox) return;
    throw new CapstanError(
      'database_unavailable',
      `The database is away, and ${this.#maxOutbox} records wait for it, which is the most.`,
    );
  }

  /** A failed capture has no files that a crash could leave without their record. */
  async #keepRecord(record: DetailedResult): Promise<void> {
    if (this.#results.kind === 'none') return;
    if (await this.#delivery.write(record)) return;
    await this.#outbox.add(record);
    this.#delivery.wait(record.id);
  }

  /**
   * The record is in the outbox before the files appear, and leaves it when the database has it. After a crash, a
   * record in the outbox is written when its files exist; without them, the capture was never answered.
   */
  async #keepCapture(record: DetailedResult, picture: Picture): Promise<void> {
    const [staging, noting] = await Promise.allSettled([
      this.#artifacts.stage(record, picture),
      this.#outbox.add(record),
    ]);
    const staged = staging.status === 'fulfilled' ? staging.value : undefined;
    try {
      if (staging.status === 'rejected') throw staging.reason;
      if (noting.status === 'rejected') throw noting.reason;
      await staged?.publish();
      if (await this.#delivery.write(record)) await this.#delivery.written(record.id);
      else this.#delivery.wait(record.id);
    } catch (error) {
      await this.#undo(record.id, staged);
      throw error;
    }
  }

  /**
   * The record is removed last: until then, the next start can interpret what a crash leaves. A record that stays in
   * the outbox is written again by the next start, without effect.
   */
  async #undo(id: number, staged: StagedCapture | undefined): Promise<void> {
    await staged?.discard().catch(this.#onProblem);
    await this.#outbox.remove(id).catch(this.#onProblem);
  }
}
