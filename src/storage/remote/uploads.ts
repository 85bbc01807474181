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
  /** Notes that the marks in the record on the disk have changed. */
  marked(id: number): void;
  /** Forgets captures that are removed. */
  forget(ids: readonly number[]): void;
}

/** A capture that this process has staged, until it is released. */
interface Own {
  /** The capture until its first upload; undefined: it is on the disk only. */
  copy: Copy | undefined;
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
  let keptBytes = 0;

  function own(id: number, copy: Copy): Own {
    const bytes = bytesOf(copy);
    const isKept = keptBytes + bytes <= KEPT_BYTES;
    if (isKept) keptBytes += bytes;
    const mine: Own = {
      copy: isKept ? copy : undefined,
      isTried: false,
      hasFailed: false,
      isUploaded: false,
      isMarked: false,
    };
    owned.set(id, mine);
    return mine;
  }

  function take(mine: Own | undefined): Copy | undefined {
    if (mine?.copy === undefined) return undefined;
    const { copy } = mine;
    mine.copy = undefined;
    keptBytes -= bytesOf(copy);
    return copy;
  }

  function forget(id: number): void {
    take(owned.get(id));
    owned.delete(id);
  }

  async function upload({ record, files, sha256 }: Copy, mine: Own | undefined): Promise<StoredRecord> {
    const staged = await remote.stage(record, files, sha256);
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
    if (first === undefined) throw new CapstanError('database_unavailable');
    return first;
  }

  async function deliver(id: number): Promise<StoredRecord | undefined> {
    const mine = owned.get(id);
    const isFirst = mine?.isTried === false;
    if (mine !== undefined) mine.isTried = true;
    const copy = take(mine) ?? (await copyOf(local, id));
    // Another process with the same data directory may have delivered it.
    if (copy === undefined) return remote.record(id);
    const first = isFirst ? undefined : await remote.record(id);
    const named = { ...copy, record: await namingStore(copy.record, remote) };
    return withLaterMarks(first ?? (await upload(named, mine)), mine);
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
    forget: (ids) => ids.forEach(forget),
    stage: async (record, files) => {
      const staged = await local.stage(record, files);
      const mine = own(record.id, { record, files, sha256: staged.info.sha256 });
      const discard = async () => {
        forget(record.id);
        try {
          if (mine.isUploaded) await remote.remove([record.id]);
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
      await local.remove([id]);
      forget(id);
    },
  };
}

interface Copy {
  readonly record: StoredRecord;
  readonly files: CapturedFiles;
  /** That of the image, where it is known. */
  readonly sha256?: string;
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
