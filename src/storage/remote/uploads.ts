import { buffer } from 'node:stream/consumers';
import pLimit from 'p-limit';
import type { ArtifactKind } from '../../capture/artifacts.ts';
import { CapstanError } from '../../capture/errors.ts';
import type { StoredRecord } from '../../capture/result.ts';
import { type ArtifactStore, type CapturedFiles, filesIn, type LocalStore } from '../ports/artifact-store.ts';
import { hasCopy, type LocalCopies, namingStore } from '../ports/local-copies.ts';
import { marksOf, sameMarks } from '../records/marks.ts';

/** Maximum number of captures whose files are in memory for their upload. */
const UPLOADS = 8;
/** Maximum number of bytes of captures that stay in memory until their upload, and need not be read from the disk. */
const KEPT_BYTES = 64 * 1024 ** 2;

export interface Uploads extends LocalCopies {
  /** Whether this process has just made and answered the capture, and no attempt to upload it has failed. */
  isFresh(id: number): boolean;
  /** Forgets captures that are removed. */
  forget(ids: readonly number[]): void;
}

/** Copies in the data directory of captures that are uploaded to another store. */
export function createUploads(
  local: LocalStore,
  remote: ArtifactStore,
  { later = false }: { readonly later?: boolean } = {},
): Uploads {
  const limit = pLimit(UPLOADS);
  /**
   * Captures that this process has staged and not tried to upload yet: no other process has uploaded them. Undefined: it
   * is on the disk only.
   */
  const fresh = new Map<number, Copy | undefined>();
  let keptBytes = 0;
  /** Captures that wait for their first upload by this process, or are uploaded. */
  const unfailed = new Set<number>();
  /** Captures that this process has uploaded, until they are released. */
  const uploaded = new Set<number>();

  function keep(copy: Copy): void {
    const bytes = bytesOf(copy);
    const isKept = keptBytes + bytes <= KEPT_BYTES;
    if (isKept) keptBytes += bytes;
    fresh.set(copy.record.id, isKept ? copy : undefined);
  }

  function take(id: number): Copy | undefined {
    const copy = fresh.get(id);
    fresh.delete(id);
    if (copy !== undefined) keptBytes -= bytesOf(copy);
    return copy;
  }

  async function upload(copy: Copy): Promise<StoredRecord> {
    const { record, files } = copy;
    const staged = await remote.stage(record, files);
    try {
      if (await staged.publish()) {
        uploaded.add(record.id);
        return record;
      }
    } catch (error) {
      await staged.discard().catch(() => undefined);
      throw error;
    }
    const first = await remote.record(record.id);
    // The existing capture was removed after `publish` found it. The next attempt can publish.
    if (first === undefined) throw new CapstanError('database_unavailable');
    return first;
  }

  async function deliver(id: number): Promise<StoredRecord | undefined> {
    const isFresh = fresh.has(id);
    const copy = take(id) ?? (await copyOf(local, id));
    // Another process with the same data directory may have delivered it.
    if (copy === undefined) return remote.record(id);
    const first = isFresh ? undefined : await remote.record(id);
    return withLaterMarks(first ?? (await upload({ ...copy, record: await namingStore(copy.record, remote) })));
  }

  /** Marks that were given before the store had the capture are in the record on the disk alone. */
  async function withLaterMarks(uploaded: StoredRecord): Promise<StoredRecord> {
    for (let written = uploaded; ; ) {
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
      unfailed.delete(id);
      throw error;
    }
  }

  return {
    keepsFailed: false,
    deliverLater: later ? deliverWithin : null,
    isFresh: (id) => unfailed.has(id),
    forget: (ids) => {
      for (const id of ids) {
        take(id);
        unfailed.delete(id);
      }
    },
    stage: async (record, files) => {
      const staged = await local.stage(record, files);
      keep({ record, files });
      if (later) unfailed.add(record.id);
      const discard = async () => {
        take(record.id);
        unfailed.delete(record.id);
        try {
          if (uploaded.delete(record.id)) await remote.remove([record.id]);
        } finally {
          await staged.discard();
        }
      };
      return { info: staged.info, publish: () => staged.publish(), discard };
    },
    keepRecord: local.keepRecord,
    has: (id) => hasCopy(local, id),
    record: (id) => local.record(id),
    deliver: ({ id }) => deliverWithin(id),
    release: async ({ id }) => {
      uploaded.delete(id);
      await local.remove([id]);
      unfailed.delete(id);
    },
  };
}

interface Copy {
  readonly record: StoredRecord;
  readonly files: CapturedFiles;
}

function bytesOf({ files }: Copy): number {
  return filesIn(files).reduce((sum, [, content]) => sum + Buffer.byteLength(content), 0);
}

/** Reads a whole capture; undefined when one of its files, or the record, is gone. */
async function copyOf(local: ArtifactStore, id: number): Promise<Copy | undefined> {
  const record = await local.record(id);
  const kinds = record?.artifacts?.kinds ?? [];
  const contents = new Map(
    await Promise.all(kinds.map(async (kind) => [kind, await contentOf(local, id, kind)] as const)),
  );
  const [image, html] = [contents.get('image'), contents.get('html')];
  if (record === undefined || image === undefined || html === undefined) return undefined;
  if ([...contents.values()].includes(undefined)) return undefined;
  return { record, files: { ...Object.fromEntries(contents), image, html } };
}

async function contentOf(local: ArtifactStore, id: number, kind: ArtifactKind): Promise<Buffer | undefined> {
  const artifact = await local.open(id, kind);
  return artifact && buffer(artifact.stream());
}
