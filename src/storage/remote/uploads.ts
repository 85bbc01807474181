import pLimit from 'p-limit';
import { CapstanError } from '../../capture/errors.ts';
import type { StoredRecord } from '../../capture/result.ts';
import { type ArtifactStore, type LocalStore, readFiles } from '../ports/artifact-store.ts';
import { hasCopy, type LocalCopies, namingStore } from '../ports/local-copies.ts';
import { marksOf, sameMarks } from '../records/marks.ts';

/** Maximum number of captures whose files are in memory for their upload. */
const UPLOADS = 8;

export interface Uploads extends LocalCopies {
  /** Whether this process has just made and answered the capture, and no attempt to upload it has failed. */
  isFresh(id: number): boolean;
  /** Notes that the marks in the record on the disk have changed. */
  marked(id: number): void;
  /** Forgets captures that are removed. */
  forget(ids: readonly number[]): void;
}

/** A capture that this process has staged, until it is released. */
interface Own {
  /** That of the image. */
  readonly sha256: string;
  /** Whether an upload has begun: before, no other process can have uploaded it. */
  isTried: boolean;
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

  /** Resolves with the record of the files in the store; undefined when there is no copy. */
  async function upload(id: number, mine: Own | undefined): Promise<StoredRecord | undefined> {
    const copy = await local.record(id);
    const files = copy && (await readFiles(local, copy));
    if (copy === undefined || files === undefined) return undefined;
    const record = await namingStore(copy, remote);
    const staged = await remote.stage(record, files, mine?.sha256);
    try {
      if (await staged.publish()) {
        if (mine !== undefined) mine.isUploaded = true;
        return record;
      }
    } catch (error) {
      await staged.discard().catch(() => undefined);
      throw error;
    }
    const first = await remote.record(id);
    // The existing capture was removed after `publish` found it. The next attempt can publish.
    if (first === undefined) throw new CapstanError('artifacts_unavailable');
    return first;
  }

  async function deliver(id: number): Promise<StoredRecord | undefined> {
    const mine = owned.get(id);
    const isFirst = mine?.isTried === false;
    if (mine !== undefined) mine.isTried = true;
    const known = isFirst ? undefined : await remote.record(id);
    const uploaded = known ?? (await upload(id, mine));
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
    keepsFailed: false,
    deliverLater: later ? deliverWithin : null,
    isFresh: (id) => later && owned.get(id)?.hasFailed === false,
    marked: (id) => {
      const mine = owned.get(id);
      if (mine !== undefined) mine.isMarked = true;
    },
    forget: (ids) => {
      for (const id of ids) owned.delete(id);
    },
    stage: async (record, files) => {
      const { info, publish, discard } = await local.stage(record, files);
      const mine = { sha256: info.sha256, isTried: false, hasFailed: false, isUploaded: false, isMarked: false };
      owned.set(record.id, mine);
      return {
        info,
        publish,
        discard: async () => {
          owned.delete(record.id);
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
    release: async ({ id }) => {
      await local.remove([id]);
      owned.delete(id);
    },
  };
}
