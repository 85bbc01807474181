import { LRUCache } from 'lru-cache';
import pLimit from 'p-limit';
import { CapstanError } from '../../capture/errors.ts';
import type { StoredRecord } from '../../capture/result/result.ts';
import { nullIfDamaged } from '../failures/store-errors.ts';
import { createOwnCopies, namingStore } from '../files/own-copies.ts';
import type { ArtifactStore, CapturedFiles, LocalStore } from '../ports/artifact-store.ts';
import type { LocalCopies } from '../ports/local-copies.ts';
import { filesIn, readFiles } from '../records/captured-files.ts';

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
  /** Notes that the copy on the disk has new marks. Its upload contains them: the sweep may delete them before it. */
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

/** Copies in the data directory of captures that are uploaded to another store. */
export function createUploads(
  local: LocalStore,
  remote: ArtifactStore,
  { later = false }: { readonly later?: boolean } = {},
): Uploads {
  const limit = pLimit(UPLOADS);
  /** Captures until they are marked, or first uploaded: before that, no other process can have uploaded them. */
  const kept = new LRUCache<number, Copy>({ maxSize: KEPT_BYTES, sizeCalculation: bytesOf });

  const fresh = new Set<number>();

  function forget(ids: readonly number[]): void {
    for (const id of ids) for (const known of [kept, fresh]) known.delete(id);
  }

  async function copyOnDisk(id: number): Promise<Copy | undefined> {
    const record = await local.record(id);
    const files = record && (await readFiles(local, record));
    return record && files && { record, files };
  }

  /** Resolves with the record of the files in the store; undefined when there is no copy. */
  async function upload(copy: Copy | undefined): Promise<StoredRecord | undefined> {
    if (copy === undefined) return undefined;
    const record = await namingStore(copy.record, remote);
    if (await remote.put(record, copy.files, copy.sha256)) return record;
    const first = await remote.record(record.id);
    // The existing capture was removed meanwhile. The next attempt can store it.
    if (first === undefined) throw new CapstanError('artifacts_unavailable');
    return first;
  }

  async function deliver(id: number): Promise<StoredRecord | undefined> {
    const copy = kept.get(id);
    kept.delete(id);
    try {
      if (copy !== undefined) return await upload(copy);
      return (await remote.record(id).catch(nullIfDamaged)) ?? (await upload(await copyOnDisk(id)));
    } catch (error) {
      fresh.delete(id);
      throw error;
    }
  }

  return {
    ...createOwnCopies(local, { keepsFailed: false }),
    deliverLater: later ? (id) => limit(deliver, id) : null,
    isFresh: (id) => later && fresh.has(id),
    marked: (id) => void kept.delete(id),
    forget,
    stage: async (record, files) => {
      const { id } = record;
      const { info, publish, discard } = await local.stage(record, files);
      kept.set(id, { record, files, sha256: info.sha256 });
      fresh.add(id);
      return {
        info,
        publish,
        discard: async () => {
          forget([id]);
          try {
            // Another image is that of another process, whose capture stays.
            if ((await remote.info(id))?.sha256 === info.sha256) await remote.remove([id]);
          } finally {
            await discard();
          }
        },
      };
    },
    deliver: ({ id }) => limit(deliver, id),
    release: async (records) => {
      const ids = records.map(({ id }) => id);
      await local.release(ids);
      forget(ids);
    },
  };
}

/** Returns at least 1, as the cache requires. */
function bytesOf({ files }: Copy): number {
  return filesIn(files).reduce((sum, [, content]) => sum + Buffer.byteLength(content), 1);
}
