import { ARTIFACT_KINDS, type ArtifactKind, forKinds } from '../../capture/artifacts/artifacts.ts';
import { CapstanError } from '../../capture/errors.ts';
import type { Marks } from '../../capture/finding/marks.ts';
import type { Result, StoredRecord } from '../../capture/result/result.ts';
import { shareOf } from '../../fairness/share.ts';
import { isStoreFailure, writeFailure } from '../failures/write-failure.ts';
import type { ArtifactStore, CapturedFiles } from '../ports/artifact-store.ts';
import type { LocalCopies } from '../ports/local-copies.ts';
import type { Outbox } from '../ports/outbox.ts';
import type { ResultStore } from '../ports/result-store.ts';
import { filesIn } from '../records/captured-files.ts';
import { withoutEvidence } from '../records/record.ts';
import { changeMarks, type MarkedCapture } from './change-marks.ts';
import { type KeepParts, keepCapture, keepFailed } from './keep-capture.ts';
import { OutboxDelivery } from './outbox-delivery.ts';
import { createRemover, type Removal, type Remover } from './remover.ts';
import { createStoreHealth, type StoreHealth } from './store-health.ts';

const MAX_OUTBOX = 10_000;

export interface CaptureStoreOptions {
  readonly artifacts: ArtifactStore;
  readonly copies: LocalCopies;
  readonly results: ResultStore;
  readonly outbox: Outbox;
  /** Maximum number of records that may wait for the database. */
  readonly maxOutbox?: number | undefined;
  /** Called when artifacts cannot be stored any more, once per change, and with `undefined` when they can again. */
  readonly onStoreFailure?: ((failure: CapstanError | undefined) => void) | undefined;
  /**
   * Called with each record that an ended process left in the outbox, once the database has it. If this rejects, it is
   * called with the record again after the next start.
   */
  readonly onRecovered?: ((record: StoredRecord) => Promise<void>) | undefined;
  /** Reports failures in the background: a record that the database refuses, files that cannot be removed. */
  readonly onProblem?: (problem: unknown) => void;
}

/** Joins artifacts and records: a capture that was reported as stored survives a crash, files and record together. */
export class CaptureStore {
  readonly #artifacts: ArtifactStore;
  readonly #results: ResultStore;
  readonly #remover: Remover;
  readonly #delivery: OutboxDelivery;
  readonly #maxOutbox: number;
  readonly #parts: KeepParts;
  readonly #health: StoreHealth;
  /** Captures that are being stored, by id. */
  readonly #underway = new Map<number, Promise<Result>>();
  readonly #written = forKinds(ARTIFACT_KINDS, () => 0);

  constructor(options: CaptureStoreOptions) {
    const { artifacts, copies, results, outbox, maxOutbox = MAX_OUTBOX } = options;
    const { onProblem = () => {}, onStoreFailure = () => {}, onRecovered = async () => {} } = options;
    this.#artifacts = artifacts;
    this.#results = results;
    this.#remover = createRemover({ artifacts, results, outbox });
    const stores = { copies, results, outbox, onProblem };
    this.#delivery = new OutboxDelivery({ ...stores, remover: this.#remover, onRecovered });
    this.#maxOutbox = maxOutbox;
    this.#health = createStoreHealth({ probe: () => copies.probe(), onChange: onStoreFailure });
    this.#parts = {
      ...stores,
      artifacts,
      delivery: this.#delivery,
      onCopyFailure: (error) => {
        if (!this.#noteFailure(error)) onProblem(error);
      },
    };
  }

  /** Number of captures on disk that wait for the database or for the artifact store. */
  get pending(): number {
    return this.#delivery.pending;
  }

  /** Bytes of the files stored since the start. */
  get written(): Readonly<Record<ArtifactKind, number>> {
    return { ...this.#written };
  }

  /** The reason why no capture can be stored now; undefined when one can. */
  get refusal(): CapstanError | undefined {
    return this.#health.failure ?? this.#fullOutbox();
  }

  /** Takes over the waiting records and removals of ended processes. Rejects when the data directory cannot be used. */
  async start(): Promise<void> {
    try {
      await this.#delivery.adopt();
    } catch (error) {
      const failure = writeFailure(error);
      // A full disk must not prevent the start: captures are refused until there is room.
      if (failure.code !== 'storage_full') throw error;
      this.#health.failed(failure);
    }
    this.#delivery.start();
  }

  /**
   * Stores a capture (files, record and evidence) and returns the record with the names of its artifacts. While the
   * database is away the record waits on disk, which counts as stored. A capture whose id is stored already stays as it
   * is, and its record is returned. Rejects with `storage_full`, `storage_unavailable`, `internal`, or
   * `database_unavailable` or `artifacts_unavailable` when too many captures wait. After a rejection, nothing of the
   * capture is left.
   */
  keep(capture: StoredRecord, files: CapturedFiles | null): Promise<Result> {
    const { id } = capture;
    const underway = this.#underway.get(id);
    if (underway !== undefined) return underway;
    const full = this.#fullOutbox(capture.api_key_name);
    if (full !== undefined) return Promise.reject(full);
    const keeping = this.#keep(capture, files).finally(() => this.#underway.delete(id));
    this.#underway.set(id, keeping);
    return keeping;
  }

  async #keep(capture: StoredRecord, files: CapturedFiles | null): Promise<Result> {
    try {
      const kept = files === null ? keepFailed(capture, this.#parts) : this.#keepFiles(capture, files);
      return withoutEvidence(await kept);
    } catch (error) {
      this.#noteFailure(error);
      throw error;
    }
  }

  async #keepFiles(capture: StoredRecord, files: CapturedFiles): Promise<StoredRecord> {
    const contents = filesIn(files);
    const artifacts = { store: await this.#storeId(), kinds: contents.map(([kind]) => kind) };
    const kept = await keepCapture({ ...capture, artifacts }, files, this.#parts);
    this.#health.succeeded();
    for (const [kind, content] of contents) this.#written[kind] += Buffer.byteLength(content);
    return kept;
  }

  /** If the error means that artifacts cannot be stored, notes it and returns true. */
  #noteFailure(error: unknown): boolean {
    if (!isStoreFailure(error)) return false;
    this.#health.failed(error);
    return true;
  }

  /**
   * Removes captures, records and files together, except held ones; open artifacts stay readable. Rejects with
   * `database_unavailable` or `internal`: then nothing is removed, or the rest is removed later.
   */
  async remove(ids: readonly number[]): Promise<Removal> {
    // The copy of a failed capture is written after its record, so without the wait it could come after the removal.
    await Promise.allSettled(ids.map((id) => this.#underway.get(id)));
    try {
      return await this.#remover.remove(ids);
    } finally {
      this.#delivery.finishRemovals();
    }
  }

  /**
   * Changes the marks of a capture in the database and in the record that is kept with its files; resolves with the
   * marks before and the record after. Undefined when there is no record.
   */
  mark(id: number, change: (marks: Marks) => Marks): Promise<MarkedCapture | undefined> {
    return changeMarks(id, change, { results: this.#results, artifacts: this.#artifacts });
  }

  /** Whether another artifact store holds the files of a capture. Rejects with `database_unavailable`. */
  isElsewhere(id: number): Promise<boolean> {
    return this.#remover.isElsewhere(id);
  }

  /** Whether the removal of a capture has begun: its record may be gone while its files still exist. */
  isRemoved(id: number): boolean {
    return this.#remover.isUnfinished(id);
  }

  /** Returns whether anything of a capture exists. Rejects with `database_unavailable`. */
  has(id: number): Promise<boolean> {
    return this.#remover.has(id);
  }

  async close(): Promise<void> {
    await this.#health.stop();
    await this.#delivery.stop();
  }

  async #storeId(): Promise<string> {
    try {
      return await this.#artifacts.id();
    } catch (error) {
      throw writeFailure(error);
    }
  }

  /** `key`: the name of an API key, which has a share of the places. */
  #fullOutbox(key?: string): CapstanError | undefined {
    const { mustWait, isBehind } = this.#delivery;
    if (this.#results.kind === 'none' || !(mustWait || isBehind)) return undefined;
    const waiting = this.#delivery.pending + this.#underway.size;
    const free = this.#maxOutbox - waiting;
    const ofKey = key === undefined ? 0 : this.#delivery.pendingOf(key);
    if ((key === undefined ? free : shareOf(free, ofKey)) >= 1) return undefined;
    const share = free < 1 ? '' : `, ${ofKey} of them of the API key ${key}, which has its share`;
    return mustWait
      ? new CapstanError(
          'database_unavailable',
          `The database cannot be used, or still takes older records, and the outbox is full: ${waiting} records wait${share}.`,
        )
      : new CapstanError(
          'artifacts_unavailable',
          `The object store is away or slow, and the outbox is full: ${waiting} captures wait${share}.`,
        );
  }
}
