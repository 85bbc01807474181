import { randomUUID } from 'node:crypto';
import { mkdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type ArtifactKind, artifactFile } from '../../capture/artifacts/artifacts.ts';
import type { ScreenshotInfo } from '../../capture/artifacts/screenshot-info.ts';
import { codeOf } from '../../capture/basics/error-code.ts';
import { openWithSize } from '../../capture/basics/open-with-size.ts';
import type { Marks } from '../../capture/finding/marks.ts';
import type { StoredRecord } from '../../capture/result/result.ts';
import { damagedRecord, nullIfDamaged } from '../failures/store-errors.ts';
import { writeFailure } from '../failures/write-failure.ts';
import type {
  CapturedFiles,
  LocalStore,
  OpenArtifact,
  RemovedArtifacts,
  StagedCapture,
} from '../ports/artifact-store.ts';
import { filesIn } from '../records/captured-files.ts';
import type { DataDirectory } from './data-directory.ts';
import { ifThere, makeDirectory, moveInto, syncDirectory } from './directories.ts';
import { publishDurably, writeDurably, writeNew } from './durable-file.ts';
import { removeThumbnails } from './file-thumbnail-store.ts';
import { byTimeIn, describeNewest, idsBefore, idsOldestFirst } from './ids-by-time.ts';
import { captureDirectory, capturesDirectory, directoriesAbove, RECORD_FILE } from './layout.ts';
import { PRIVATE_DIRECTORY } from './private-files.ts';
import { parseRecordFile, recordText, screenshotInfo } from './record-file.ts';
import { removeCaptures } from './remove-captures.ts';
import { bytesOf, createStoredBytes } from './stored-bytes.ts';
import { namesIn } from './workspace.ts';

/**
 * Size of a probe file: as large as a capture may be, because a small file would still fit on a disk that is nearly
 * full.
 */
const PROBE_BYTES = 1024 * 1024;

export function createFileArtifactStore(data: DataDirectory): LocalStore {
  const stored = createStoredBytes(data.path);
  const emptied = new Set<string>();

  async function stage(record: StoredRecord, files: CapturedFiles): Promise<StagedCapture> {
    const info = await screenshotInfo(record, files.image);
    const staged = await stageFiles(info.id, [
      ...filesIn(files).map(([kind, content]) => [artifactFile(kind, info.format), content] as const),
      [RECORD_FILE, recordText({ record, image: info })],
    ]);
    return { info, ...staged };
  }

  async function keepRecord(record: StoredRecord, isSynced = true): Promise<void> {
    await publish(await stageFiles(record.id, [[RECORD_FILE, recordText({ record, image: null })]], isSynced));
  }

  async function stageFiles(
    id: number,
    files: readonly NamedFile[],
    isSynced = true,
  ): Promise<Omit<StagedCapture, 'info'>> {
    try {
      const directory = await data.use(async ({ staging }) => {
        const directory = join(staging, String(id));
        await mkdir(directory, PRIVATE_DIRECTORY);
        return directory;
      });
      return await stagedIn(directory, id, files, isSynced);
    } catch (error) {
      throw writeFailure(error);
    }
  }

  async function stagedIn(
    directory: string,
    id: number,
    files: readonly NamedFile[],
    isSynced: boolean,
  ): Promise<Omit<StagedCapture, 'info'>> {
    const write = isSynced ? writeDurably : writeNew;
    // All writes end before anything is removed: a running write would leave its file behind.
    const writes = await Promise.allSettled(files.map(([name, content]) => write(join(directory, name), content)));
    try {
      for (const written of writes) if (written.status === 'rejected') throw written.reason;
      if (isSynced) await syncDirectory(directory);
    } catch (error) {
      await remove(directory);
      throw error;
    }
    const target = captureDirectory(data.path, id);
    const bytes = files.reduce((sum, [, content]) => sum + Buffer.byteLength(content), 0);
    let published = false;
    return {
      publish: async () => {
        try {
          published = await moveInto(directory, target);
          if (!published) await remove(directory);
          else stored.changed(id, bytes);
          if (isSynced) await Promise.all(directoriesAbove(data.path, id).map(syncDirectory));
          return published;
        } catch (error) {
          throw writeFailure(error);
        }
      },
      discard: async () => {
        if (published) await removeAll([id]);
        else await remove(directory);
      },
    };
  }

  async function probe(): Promise<void> {
    try {
      await data.use(async ({ staging }) => {
        const name = `probe-${randomUUID()}`;
        const published = join(capturesDirectory(data.path), name);
        try {
          await writeDurably(join(staging, name), new Uint8Array(PROBE_BYTES));
          await makeDirectory(capturesDirectory(data.path));
          await rename(join(staging, name), published);
        } finally {
          await rm(join(staging, name), { force: true });
          await rm(published, { force: true }).catch(() => undefined);
        }
      });
    } catch (error) {
      throw writeFailure(error);
    }
  }

  async function recordFile(id: number) {
    const text = await ifThere(readFile(join(captureDirectory(data.path, id), RECORD_FILE), 'utf8'));
    if (text === undefined) return undefined;
    try {
      return parseRecordFile(text);
    } catch (error) {
      // A power cut may have emptied the copy of a failed capture, which is not synced. The database has its record.
      if (error instanceof SyntaxError && !(await has(id))) return undefined;
      throw damagedRecord(id, error);
    }
  }

  async function mark(id: number, marks: Marks): Promise<void> {
    // The database has the marks of a capture whose record here is damaged.
    const found = await recordFile(id).catch(nullIfDamaged);
    if (found == null) return;
    const text = recordText({ ...found, record: { ...found.record, ...marks } });
    const target = join(captureDirectory(data.path, id), RECORD_FILE);
    try {
      await data.use(async ({ staging }) =>
        publishDurably(join(staging, `record-${randomUUID()}`), target, text, rename),
      );
    } catch (error) {
      // The capture was removed meanwhile.
      if (codeOf(error) === 'ENOENT' && (await recordFile(id)) === undefined) return;
      throw writeFailure(error);
    }
    stored.changed(id, 0);
  }

  async function info(id: number): Promise<ScreenshotInfo | undefined> {
    return (await recordFile(id))?.info;
  }

  async function openArtifact(id: number, kind: ArtifactKind): Promise<OpenArtifact | undefined> {
    const about = await info(id);
    if (about === undefined) return undefined;
    const name = artifactFile(kind, about.format);
    const opened = await ifThere(openWithSize(join(captureDirectory(data.path, id), name)));
    if (opened === undefined) return undefined;
    const { file, bytes } = opened;
    return {
      info: about,
      bytes,
      stream: (span) => file.createReadStream(span ?? { start: 0 }),
      close: () => file.close(),
    };
  }

  const has = async (id: number) =>
    (await namesIn(captureDirectory(data.path, id))).some((name) => name !== RECORD_FILE);

  async function removeAll(ids: readonly number[]): Promise<RemovedArtifacts> {
    let captures = 0;
    let bytes = 0;
    const failures: unknown[] = [];
    const failed = (error: unknown) => failures.push(error);
    await removeCaptures(data, ids, emptied, (id, removed) => {
      if (removed.hasFiles) captures += 1;
      bytes += removed.bytes;
      stored.changed(id, -removed.bytes);
    }).catch(failed);
    // Thumbnails may be in this data directory although the capture is elsewhere.
    for (const id of ids) await removeThumbnails(data.path, id).catch(failed);
    if (failures.length > 0) throw failures[0];
    return { captures, bytes };
  }

  return {
    id: () => data.storeId(),
    probe,
    stage,
    put: async (record, files) => publish(await stage(record, files)),
    info,
    record: async (id) => (await recordFile(id))?.record,
    mark,
    keepRecord: (record) => keepRecord(record),
    copyRecord: (record) => keepRecord(record, false),
    open: openArtifact,
    list: (limit, before = Number.MAX_SAFE_INTEGER) =>
      describeNewest(idsBefore(byTimeIn(data.path), before), info, limit),
    has,
    oldest: (key) => (key === undefined ? idsOldestFirst(data.path) : stored.oldestOf(key)),
    oldestAfter: (id) => idsOldestFirst(data.path, id),
    sizeOf: (id) => bytesOf(data.path, id),
    remove: removeAll,
    release: (ids) => removeCaptures(data, ids, emptied),
    get bytes() {
      return stored.total;
    },
    measure: (signal) => stored.measure(signal),
    shares: () => stored.shares(),
  };
}

/** The name of a file, and its content. */
type NamedFile = readonly [string, string | Uint8Array];

async function publish(staged: Omit<StagedCapture, 'info'>): Promise<boolean> {
  try {
    return await staged.publish();
  } catch (error) {
    await staged.discard();
    throw error;
  }
}

async function remove(directory: string): Promise<void> {
  await rm(directory, { recursive: true, force: true });
}
