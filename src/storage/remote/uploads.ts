import pLimit from 'p-limit';
import { CapstanError } from '../../capture/errors.ts';
import type { StoredRecord } from '../../capture/result/result.ts';
import { nullIfDamaged } from '../failures/store-errors.ts';
import { hasCopy, namingStore } from '../files/own-copies.ts';
import type { ArtifactStore, CapturedFiles, LocalStore } from '../ports/artifact-store.ts';
import type { LocalCopies } from '../ports/local-copies.ts';
import { filesIn, readFiles } from '../records/captured-files.ts';
import { marksOf, sameMarks } from '../records/marks.ts';

/** Maximum number of captures whose files are in memory for their upload. */
const UPLOADS = 8;
/**
 * Maximum number of bytes of captures that stay in memory until their upload: reading one from the disk takes 8 ms of
 * CPU.
 */
const KEPT_BYTES = 64 * 1024 ** 2;

export interface Uploads extends LocalCopies {
  /** Whether this process has just made and answered the capture, and no attempt to upload it has failed. */
  isFresh(id: number): boolean;
  /** Notes that the marks in the record on the disk have changed. */
  marked(id: number): void;
  /** Forgets captures that are removed. */
  forget(ids: readonly number[]): void;
}

interface Copy {
  readonly record: StoredRecord;
  readonly files: CapturedFiles;
  /** That of the image, where it is known. */
  readonly sha256?: string;
}

/** A capture that this process has staged, until it is released. */
interface Own {
  /**
   * The capture until its first upload, before which no other process can have uploaded it; undefined: it is on the
   * disk only.
   */
  copy: Copy | undefined;
  hasFailed: boolean;
  isUploaded: boolean;
  /** Whether the other store may lack marks that are in the record on the disk. */
  isMarked: boolean;
}

/** Copies in the data directory of captures that are uploaded to another store. */
export function createUploads(
  local: LocalStore,
  remote: ArtifactStore,
  { later = false }: { readonly later?: boolean } = {},
): Uploads {
  const limit = pLimit(UPLOADS);
  const owned = new Map<number, Own>();
  let keptBytes = 0;

  /** Returns the copy in memory, which is needed once. */
  function take(mine: Own | undefined): Copy | undefined {
    const copy = mine?.copy;
    if (mine === undefined || copy === undefined) return undefined;
    mine.copy = undefined;
    keptBytes -= bytesOf(copy);
    return copy;
  }

  function forget(id: number): void {
    take(owned.get(id));
    owned.delete(id);
  }

  async function copyOnDisk(id: number): Promise<Copy | undefined> {
    const record = await local.record(id);
    const files = record && (await readFiles(local, record));
    return record && files && { record, files };
  }

  /** Resolves with the record of the files in the store; undefined when there is no copy. */
  async function upload(copy: Copy | undefined, mine: Own | undefined): Promise<StoredRecord | undefined> {
    if (copy === undefined) return undefined;
    const record = await namingStore(copy.record, remote);
    const staged = await remote.stage(record, copy.files, copy.sha256);
    try {
      if (await staged.publish()) {
        if (mine !== undefined) mine.isUploaded = true;
        return record;
      }
    } catch (error) {
      await staged.discard().catch(() => undefined);
      throw error;
    }
    const first = await remote.record(record.id);
    // The existing capture was removed after `publish` found it. The next attempt can publish.
    if (first === undefined) throw new CapstanError('artifacts_unavailable');
    return first;
  }

  async function deliver(id: number): Promise<StoredRecord | undefined> {
    const mine = owned.get(id);
    const kept = take(mine);
    const known = kept === undefined ? await remote.record(id).catch(nullIfDamaged) : null;
    const uploaded = known ?? (await upload(kept ?? (await copyOnDisk(id)), mine));
    return uploaded && withLaterMarks(uploaded, mine);
  }

  /** Marks that were given before the store had the capture are in the record on the disk alone. */
  async function withLaterMarks(uploaded: StoredRecord, mine: Own | undefined): Promise<StoredRecord> {
    for (let written = uploaded; ; ) {
      if (mine?.isMarked === false) return written;
      if (mine !== undefined) mine.isMarked = false;
      const now = await local.record(written.id);
      if (now === undefined || sameMarks(now, written)) return written;
      const marks = marksOf(now);
      await remote.mark(written.id, marks);
      written = { ...written, ...marks };
    }
  }

  async function deliverWithin(id: number): Promise<StoredRecord | undefined> {
    try {
      return await limit(() => deliver(id));
    } catch (error) {
      const mine = owned.get(id);
      // The attempt may have failed when it was about to write the marks.
      if (mine !== undefined) mine.hasFailed = mine.isMarked = true;
      throw error;
    }
  }

  return {
    copyFailed: null,
    deliverLater: later ? deliverWithin : null,
    isFresh: (id) => later && owned.get(id)?.hasFailed === false,
    marked: (id) => {
      const mine = owned.get(id);
      if (mine !== undefined) mine.isMarked = true;
    },
    forget: (ids) => ids.forEach(forget),
    stage: async (record, files) => {
      const { info, publish, discard } = await local.stage(record, files);
      const copy = { record, files, sha256: info.sha256 };
      const isKept = keptBytes + bytesOf(copy) <= KEPT_BYTES;
      if (isKept) keptBytes += bytesOf(copy);
      const mine: Own = { copy: isKept ? copy : undefined, hasFailed: false, isUploaded: false, isMarked: false };
      owned.set(record.id, mine);
      return {
        info,
        publish,
        discard: async () => {
          forget(record.id);
          try {
            if (mine.isUploaded) await remote.remove([record.id]);
          } finally {
            await discard();
          }
        },
      };
    },
    keepRecord: local.keepRecord,
    has: (id) => hasCopy(local, id),
    record: (id) => local.record(id),
    deliver: ({ id }) => deliverWithin(id),
    release: async (records) => {
      const ids = records.map(({ id }) => id);
      await local.release(ids);
      ids.forEach(forget);
    },
  };
}

function bytesOf({ files }: Copy): number {
  return filesIn(files).reduce((sum, [, content]) => sum + Buffer.byteLength(content), 0);
}
