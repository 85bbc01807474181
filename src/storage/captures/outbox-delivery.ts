import { CapstanError } from '../../capture/errors.ts';
import type { StoredRecord } from '../../capture/result/result.ts';
import { isAway } from '../failures/store-errors.ts';
import { isStoreFailure } from '../failures/write-failure.ts';
import { BackgroundPasses } from '../passes/background-passes.ts';
import type { LocalCopies } from '../ports/local-copies.ts';
import type { Outbox } from '../ports/outbox.ts';
import type { ResultStore } from '../ports/result-store.ts';
import type { Remover } from './remover.ts';

/** Records that are written together once the database is known to be back. */
const MAX_DRAIN = 64;
/** Time that captures wait to be delivered with others, in milliseconds: requests one after another take less CPU. */
const DELIVERED_AFTER_MS = 100;

/** A record whose files are delivered; `away`: a store is unavailable; undefined when nothing is left to write. */
type Prepared = StoredRecord | 'away' | undefined;

export interface OutboxDeliveryOptions {
  readonly copies: LocalCopies;
  readonly results: ResultStore;
  readonly outbox: Outbox;
  readonly remover: Remover;
  /** See `CaptureStoreOptions`. */
  readonly onRecovered: (record: StoredRecord) => Promise<void>;
  /** Reports failures in the background. */
  readonly onProblem: (problem: unknown) => void;
}

/**
 * Delivers the captures that wait in the outbox, in their order, however long that takes: files to the artifact store,
 * then records to the database. Also completes unfinished removals.
 */
export class OutboxDelivery {
  readonly #options: OutboxDeliveryOptions;
  readonly #passes = new BackgroundPasses(
    () => this.#drain(),
    () => this.pending > 0 || this.#options.remover.unfinished > 0 || !this.#adopted,
  );

  /** The ids of waiting records in the order of their arrival, with the API key when this process made the record. */
  readonly #waiting = new Map<number, string | undefined>();
  /** Captures whose record is written, and whose files wait for delivery. */
  readonly #undelivered = new Map<number, string | undefined>();
  #deliveryFails = false;
  /** Ids of those that an ended process left. */
  readonly #recovered = new Set<number>();
  #adopted = false;

  constructor(options: OutboxDeliveryOptions) {
    this.#options = options;
  }

  /** Number of waiting captures. */
  get pending(): number {
    return this.#waiting.size + this.#undelivered.size;
  }

  /** Whether captures whose record is written wait for the artifact store, which is away or slow. */
  get isBehind(): boolean {
    return this.#undelivered.size > 0;
  }

  /** Returns the number of waiting captures of an API key. */
  pendingOf(key: string): number {
    const keys = [...this.#waiting.values(), ...this.#undelivered.values()];
    return keys.reduce((count, one) => count + (one === key ? 1 : 0), 0);
  }

  /** Whether records must wait: the database is away, or older records still wait. */
  get mustWait(): boolean {
    return (
      this.#waiting.size > 0 || this.#options.results.state === 'down' || this.#options.results.state === 'damaged'
    );
  }

  /** Takes over the waiting records and removals of ended processes. */
  async adopt(): Promise<void> {
    if (this.#options.results.kind === 'none') await this.#options.outbox.sweep();
    else {
      const { waiting, removals } = await this.#options.outbox.adopt((id) => this.#options.copies.has(id));
      for (const id of waiting) {
        this.#waiting.set(id, undefined);
        this.#recovered.add(id);
      }
      this.#options.remover.takeOver(removals);
    }
    this.#adopted = true;
  }

  /** Schedules the first pass. */
  start(): void {
    this.#passes.plan(0);
  }

  /** Delivers what was recorded just now; the rest is left to the next process. */
  async stop(): Promise<void> {
    await this.#passes.stop();
    if (!this.#deliveryFails) await this.#deliverFiles().catch(() => undefined);
  }

  /** Whether this capture waits in this process. */
  isWaiting(id: number): boolean {
    return this.#waiting.has(id) || this.#undelivered.has(id);
  }

  /** Completes a capture whose record is written: now, or when its files are delivered. */
  async complete(record: StoredRecord): Promise<void> {
    if (record.artifacts === null || this.#options.copies.deliverLater === null) return this.#removeNotes([record]);
    this.#undelivered.set(record.id, record.api_key_name);
    this.#passes.plan(DELIVERED_AFTER_MS);
  }

  /** Queues a record that is noted in the outbox. */
  wait({ id, api_key_name: key }: Pick<StoredRecord, 'id' | 'api_key_name'>): void {
    this.#waiting.set(id, key);
    this.#passes.plan();
  }

  /**
   * Removes the outbox's notes of captures whose records the database has. If a note is gone, a removal has withdrawn
   * it while the record was being written: then the record is removed from the database, too.
   */
  async #removeNotes(records: readonly StoredRecord[]): Promise<void> {
    const { copies, outbox, remover, onProblem } = this.#options;
    try {
      await copies.release(records);
    } catch (error) {
      onProblem(error);
      // A copy that cannot be removed must not keep the notes of the others.
      if (records.length > 1) for (const record of records) await this.#removeNotes([record]);
      return;
    }
    for (const { id } of records) {
      try {
        if (await outbox.remove(id)) continue;
        remover.takeOver([await outbox.intend([id])]);
        this.#passes.plan(0);
      } catch (error) {
        onProblem(error);
      }
    }
  }

  /** Completes unfinished removals later. */
  finishRemovals(): void {
    if (this.#options.remover.unfinished > 0) this.#passes.plan();
  }

  async #drain(): Promise<void> {
    try {
      if (!this.#adopted) await this.adopt();
      // A removal that fails must not keep records from being written.
      const removing = await this.#options.remover.finish().then(
        () => undefined,
        (error: unknown) => ({ error }),
      );
      const writing = await this.#deliverAll().then(
        () => undefined,
        (error: unknown) => ({ error }),
      );
      await this.#deliverFiles();
      if (writing !== undefined) throw writing.error;
      if (removing !== undefined) throw removing.error;
    } catch (error) {
      if (!(error instanceof CapstanError)) this.#options.onProblem(error);
      throw error;
    }
  }

  async #deliverAll(): Promise<void> {
    // The first write has one record, so that a database that is away costs one wait, not one per record.
    let together = 1;
    while (this.#waiting.size > 0 && !this.#passes.stopped) {
      const ids = [...this.#waiting.keys().take(together)];
      // All files are delivered before any record is written, so that records are written in order.
      const ready = await Promise.all(ids.map((id) => this.#prepare(id, (one) => this.#deliverKept(one))));
      const away = ready.indexOf('away');
      const writable = away === -1 ? ids : ids.slice(0, away);
      const written = await Promise.all(writable.map((id, at) => this.#finish(id, ready[at])));
      if (away !== -1 || written.includes(false)) throw new CapstanError('database_unavailable');
      together = Math.min(together * 4, MAX_DRAIN);
      this.#passes.succeeded();
    }
  }

  async #deliverFiles(): Promise<void> {
    const { deliverLater } = this.#options.copies;
    if (deliverLater === null) return;
    let together = this.#deliveryFails ? 1 : MAX_DRAIN;
    while (this.#undelivered.size > 0) {
      const ids = [...this.#undelivered.keys().take(together)];
      const ready = await Promise.all(ids.map((id) => this.#prepare(id, deliverLater)));
      await this.#removeNotes(ready.filter((one) => one !== undefined && one !== 'away'));
      for (const [at, id] of ids.entries()) if (ready[at] !== 'away') this.#undelivered.delete(id);
      this.#deliveryFails = ready.includes('away');
      if (this.#deliveryFails) throw new CapstanError('artifacts_unavailable');
      together = MAX_DRAIN;
    }
  }

  /** Delivers the files of a capture. A capture that cannot be read or delivered must not block the others forever. */
  async #prepare(id: number, deliver: (id: number) => Promise<StoredRecord | undefined>): Promise<Prepared> {
    try {
      // A withdrawn note means that the capture is being removed.
      if (!(await this.#options.outbox.has(id))) return undefined;
      const stored = await deliver(id);
      // Without files, the client never got an answer, or another process has delivered the capture.
      if (stored === undefined) await this.#options.outbox.remove(id);
      return stored;
    } catch (error) {
      // A data directory without its mount looks empty, and is no reason to drop what waits in it.
      if (isAway(error) || isStoreFailure(error)) return 'away';
      await this.#setAside(id, error);
      return undefined;
    }
  }

  async #deliverKept(id: number): Promise<StoredRecord | undefined> {
    const { copies } = this.#options;
    const record = await copies.record(id);
    return record && deliverFirst(copies, record);
  }

  /** Returns false when the database is away. */
  async #finish(id: number, record: Prepared): Promise<boolean> {
    try {
      if (record !== undefined && record !== 'away') {
        const isKnown = await this.#isAnnounced(record);
        await this.#options.results.insert(record);
        if (this.#recovered.delete(id) && !isKnown) void this.#announce(record);
        else await this.complete(record);
      }
    } catch (error) {
      if (isAway(error)) return false;
      await this.#setAside(id, error);
    }
    this.#waiting.delete(id);
    return true;
  }

  /** Whether the process that left a capture has recorded it, and was still to deliver it. */
  async #isAnnounced({ id }: StoredRecord): Promise<boolean> {
    if (this.#options.copies.deliverLater === null || !this.#recovered.has(id)) return false;
    return (await this.#options.results.get(id)) !== undefined;
  }

  /** Keeps the note until the capture was announced: a process that is killed before leaves it to the next one. */
  async #announce(record: StoredRecord): Promise<void> {
    try {
      await this.#options.onRecovered(record);
      await this.complete(record);
    } catch (error) {
      this.#options.onProblem(error);
    }
  }

  async #setAside(id: number, why: unknown): Promise<void> {
    this.#options.onProblem(why);
    await this.#options.outbox.setAside(id).catch(this.#options.onProblem);
  }
}

/**
 * Delivers the files of a capture before its record is written; resolves as `LocalCopies.deliver` does. Resolves with
 * the record at once when the capture has no files, or when they are delivered later.
 */
export async function deliverFirst(copies: LocalCopies, record: StoredRecord): Promise<StoredRecord | undefined> {
  return record.artifacts === null || copies.deliverLater !== null ? record : copies.deliver(record);
}
