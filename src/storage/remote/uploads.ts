import { LRUCache } from 'lru-cache';
import pLimit from 'p-limit';
import { CapstanError } from '../../capture/errors.ts';
import type { StoredRecord } from '../../capture/result/result.ts';
import { nullIfDamaged } from '../failures/store-errors.ts';
import { createOwnCopies, namingStore } from '../files/own-copies.ts';
import type { ArtifactStore, CapturedFiles, LocalStore, StagedCapture } from '../ports/artifact-store.ts';
import type { LocalCopies } from '../ports/local-copies.ts';
import { changedStore, filesIn, readFiles } from '../records/captured-files.ts';

/*
 * A store outside of the data directory, as used by a process that has captures in its data directory:
 *
 *   - captures that wait for their upload are `artifact_pending`, as they can be read nowhere else, except by a process
 *     that has just made them;
 *   - captures of an earlier process that stored in the data directory can be read.
 *
 * The local copy is looked up first, then the store. A local copy is removed only once the store has the capture, so
 * this order also finds a capture that is uploaded between the two lookups.
 */

/** Maximum number of captures whose files are in memory for their upload. */
const UPLOADS = 8;
/**
 * Maximum number of bytes of captures that stay in memory until their upload: reading one from the disk takes 8 ms of
 * CPU.
 */
const KEPT_BYTES = 64 * 1024 ** 2;

interface Copy {
  readonly record: StoredRecord;
  readonly files: CapturedFiles;
  /** That of the image, where it is known. */
  readonly sha256?: string;
}

/** `artifacts`: the store as this process reads and changes it. `later`: captures are answered before their upload. */
export function createUploads(
  local: LocalStore,
  remote: ArtifactStore,
  { later = false }: { readonly later?: boolean } = {},
): { readonly copies: LocalCopies; readonly artifacts: ArtifactStore } {
  const limit = pLimit(UPLOADS);
  /** Captures until they are marked, or first uploaded: before that, no other process can have uploaded them. */
  const kept = new LRUCache<number, Copy>({ maxSize: KEPT_BYTES, sizeCalculation: bytesOf });
  /** Captures that this process has just made, and no attempt to upload them has failed. */
  const fresh = new Set<number>();
  /** Captures that this process has uploaded, or may have: the answer to an upload can be lost. */
  const uploaded = new Set<number>();

  function forget(ids: readonly number[]): void {
    for (const id of ids) for (const known of [kept, fresh, uploaded]) known.delete(id);
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
    uploaded.add(record.id);
    if (await remote.put(record, copy.files, copy.sha256)) return record;
    uploaded.delete(record.id);
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

  async function stage(record: StoredRecord, files: CapturedFiles): Promise<StagedCapture> {
    const { id } = record;
    const { info, publish, discard } = await local.stage(record, files);
    kept.set(id, { record, files, sha256: info.sha256 });
    fresh.add(id);
    return {
      info,
      publish,
      discard: async () => {
        const mayBeOurs = uploaded.has(id);
        forget([id]);
        try {
          // The capture of another process stays, also when it has the same image.
          if (mayBeOurs && (await remote.info(id))?.sha256 === info.sha256) await remote.remove([id]);
        } finally {
          await discard();
        }
      },
    };
  }

  const copies: LocalCopies = {
    ...createOwnCopies(local, { keepsFailed: false }),
    deliverLater: later ? (id) => limit(deliver, id) : null,
    stage,
    deliver: ({ id }) => limit(deliver, id),
    release: async (records) => {
      const ids = records.map(({ id }) => id);
      await local.release(ids);
      forget(ids);
    },
  };

  async function placeOf(id: number): Promise<'remote' | 'local' | 'waiting'> {
    const copy = await local.record(id);
    if (copy === undefined) return (await local.has(id)) ? 'local' : 'remote';
    return copy.artifacts?.store === (await remote.id()) ? 'waiting' : 'local';
  }

  async function read<T>(id: number, from: (store: ArtifactStore) => Promise<T | undefined>, undelivered = false) {
    const place = await placeOf(id);
    if (place === 'remote') return from(remote);
    if (place === 'local') return from(local);
    const copy = undelivered || (later && fresh.has(id)) ? await from(local) : undefined;
    // A capture that is uploaded at this moment is in both places.
    const found = copy ?? (await from(remote).catch(() => undefined));
    if (found === undefined) throw new CapstanError('artifact_pending');
    return found;
  }

  const artifacts = changedStore(remote, {
    info: (id, how) => read(id, (store) => store.info(id), how?.undelivered),
    record: (id) => read(id, (store) => store.record(id)),
    open: (id, kind, how) => read(id, (store) => store.open(id, kind), how?.undelivered),
    mark: async (id, marks) => {
      // One whose copy is damaged is marked where it can be read.
      const place = (await placeOf(id).catch(nullIfDamaged)) ?? 'remote';
      await local.mark(id, marks);
      // The upload contains the new marks: the sweep may delete them before it.
      kept.delete(id);
      // Failed captures and captures of other stores have no marks there.
      if (place === 'waiting' || (place === 'remote' && (await remote.has(id)))) await remote.mark(id, marks);
    },
    remove: async (ids) => {
      forget(ids);
      const waiting = await local.remove(ids);
      const uploaded = await remote.remove(ids);
      // A capture that is uploaded at this moment is in both places.
      const captures = Math.min(waiting.captures + uploaded.captures, ids.length);
      return { captures, bytes: captures > uploaded.captures ? waiting.bytes + uploaded.bytes : uploaded.bytes };
    },
  });
  return { copies, artifacts };
}

/** Returns at least 1, as the cache requires. */
function bytesOf({ files }: Copy): number {
  return filesIn(files).reduce((sum, [, content]) => sum + Buffer.byteLength(content), 1);
}
