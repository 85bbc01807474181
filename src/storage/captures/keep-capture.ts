import { CapstanError } from '../../capture/errors.ts';
import type { StoredRecord } from '../../capture/result/result.ts';
import { isAway } from '../failures/store-errors.ts';
import type { ArtifactStore, CapturedFiles, StagedCapture } from '../ports/artifact-store.ts';
import { deliverFirst, type OutboxDelivery, type OutboxDeliveryOptions } from './outbox-delivery.ts';

/** The stores that a capture goes through, and the reports of what fails there. */
export interface KeepParts extends Pick<OutboxDeliveryOptions, 'copies' | 'results' | 'outbox' | 'onProblem'> {
  readonly artifacts: Pick<ArtifactStore, 'put'>;
  readonly delivery: OutboxDelivery;
  /** Reports a copy that cannot be written of a record that the database has. */
  readonly onCopyFailure: (error: unknown) => void;
}

/**
 * Stores the files and the record; resolves with the record. While the database is away, the record waits on disk,
 * which counts as stored. When the capture cannot be stored, removes what was written of it, and rejects. Without a
 * database, the artifact store alone keeps the capture.
 *
 * The outbox has a note of the capture from before its files are published until the artifact store has the files and
 * the database has the record. After a crash, the next process delivers each noted capture that is in the data
 * directory, and drops the other notes: their captures were delivered already, or never answered.
 */
export async function keepCapture(record: StoredRecord, files: CapturedFiles, parts: KeepParts): Promise<StoredRecord> {
  const { artifacts, copies, results, outbox, delivery } = parts;
  if (results.kind === 'none') {
    await artifacts.put(record, files);
    return record;
  }
  if (delivery.isWaiting(record.id)) return (await copies.record(record.id)) ?? record;
  const [staging, noting] = await Promise.allSettled([copies.stage(record, files), outbox.add(record.id)]);
  const staged = staging.status === 'fulfilled' ? staging.value : undefined;
  try {
    if (staging.status === 'rejected') throw staging.reason;
    if (noting.status === 'rejected') throw noting.reason;
    const isFirst = await staging.value.publish();
    const own = isFirst ? record : ((await copies.record(record.id)) ?? record);
    const stored = await write(own, parts);
    if (stored !== undefined) await delivery.complete(stored);
    else delivery.wait(record);
    return stored ?? own;
  } catch (error) {
    await undo(record.id, staged, parts);
    throw error;
  }
}

/**
 * Stores the record of a failed capture, and resolves with it. There are no files, so nothing is staged before the
 * record is written. Without a database, nothing is kept.
 */
export async function keepFailed(record: StoredRecord, parts: KeepParts): Promise<StoredRecord> {
  const { copies, results, outbox, delivery } = parts;
  if (results.kind === 'none') return record;
  if ((await write(record, parts)) !== undefined) {
    // A record that is stored is answered, also when its copy cannot be written.
    await copies.copyFailed?.(record).catch(parts.onCopyFailure);
    return record;
  }
  await outbox.add(record.id);
  try {
    await copies.keepRecord(record);
  } catch (error) {
    await undo(record.id, undefined, parts);
    throw error;
  }
  delivery.wait(record);
  return record;
}

/**
 * Delivers the files to the artifact store, if it is not the data directory, and writes the record to the database.
 * Resolves with the stored record; undefined when the database is away, or records wait for it.
 */
async function write(
  record: StoredRecord,
  { copies, results, delivery }: KeepParts,
): Promise<StoredRecord | undefined> {
  if (delivery.mustWait) return undefined;
  try {
    const stored = await deliverFirst(copies, record);
    if (stored === undefined) throw new CapstanError('internal', 'The files of the capture are gone.');
    await results.insert(stored);
    return stored;
  } catch (error) {
    if (isAway(error)) return undefined;
    throw error;
  }
}

/**
 * The note is removed last: until then, the next start can interpret what a crash leaves. A note that stays is
 * removed by the next start.
 */
async function undo(id: number, staged: StagedCapture | undefined, { outbox, onProblem }: KeepParts): Promise<void> {
  await staged?.discard().catch(onProblem);
  await outbox.remove(id).catch(onProblem);
}
