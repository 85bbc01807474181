import { mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Result, ScreenshotInfo } from '../../capture/domain.ts';
import type { ArtifactKind, ArtifactStore, OpenArtifact, RemovedFiles } from '../artifact-store.ts';
import type { DataDirectory } from './data-directory.ts';
import { codeOf, ifThere, makeDirectory, syncDirectory } from './directories.ts';
import { writeDurably } from './durable-file.ts';
import { idsBefore, idsOldestFirst } from './ids-by-time.ts';
import { captureDirectory, HTML_FILE, INFO_FILE, imageFile } from './layout.ts';
import { removeCaptures } from './remove-captures.ts';
import { parseScreenshotInfo, screenshotInfo } from './screenshot-info.ts';
import { bytesOfCapture, createStoredBytes } from './stored-bytes.ts';
import { writeFailure } from './write-failure.ts';

/** Infos that a list reads at once. */
const READ_TOGETHER = 16;
/** How often the directory of a capture's minute is made, when others remove it because it is empty. */
const MOVES = 5;

/** A capture whose files are on the disk, but not yet where anyone looks for them. */
export interface StagedCapture {
  readonly info: ScreenshotInfo;
  /** Lets it appear, whole; resolves when it would survive a power cut. */
  publish(): Promise<void>;
  /** Removes its files, published or not. */
  discard(): Promise<void>;
}

/** Failures to write are `storage_full`, or `internal` with the cause; nothing half-written is left. */
export interface FileArtifactStore extends ArtifactStore {
  stage(result: Result, image: Uint8Array, html: string): Promise<StagedCapture>;
  has(id: number): Promise<boolean>;
}

export function createFileArtifactStore(data: DataDirectory): FileArtifactStore {
  const stored = createStoredBytes(data.path);

  async function put(result: Result, image: Uint8Array, html: string): Promise<ScreenshotInfo> {
    const staged = await stage(result, image, html);
    try {
      await staged.publish();
    } catch (error) {
      await staged.discard();
      throw error;
    }
    return staged.info;
  }

  async function stage(result: Result, image: Uint8Array, html: string): Promise<StagedCapture> {
    const info = await screenshotInfo(result, image);
    const files = new Map<string, string | Uint8Array>([
      [imageFile(info.format), image],
      [HTML_FILE, html],
      [INFO_FILE, JSON.stringify(info)],
    ]);
    try {
      const directory = await data.use(async ({ staging }) => {
        const directory = join(staging, String(info.id));
        await mkdir(directory);
        return directory;
      });
      return await stagedIn(directory, info, files);
    } catch (error) {
      throw writeFailure(error);
    }
  }

  async function stagedIn(
    directory: string,
    info: ScreenshotInfo,
    files: ReadonlyMap<string, string | Uint8Array>,
  ): Promise<StagedCapture> {
    // All of them end before anything is removed: a write under way would leave its file behind.
    const writes = await Promise.allSettled(
      [...files].map(([name, content]) => writeDurably(join(directory, name), content)),
    );
    try {
      for (const write of writes) if (write.status === 'rejected') throw write.reason;
      await syncDirectory(directory);
    } catch (error) {
      await remove(directory);
      throw error;
    }
    const target = captureDirectory(data.path, info.id);
    const bytes = [...files.values()].reduce((sum, content) => sum + Buffer.byteLength(content), 0);
    let published = false;
    return {
      info,
      publish: async () => {
        try {
          await moveInto(directory, target);
          published = true;
          stored.changed(info.id, bytes);
          await syncDirectory(dirname(target));
        } catch (error) {
          throw writeFailure(error);
        }
      },
      discard: async () => {
        if (published) await removeAll([info.id]);
        else await remove(directory);
      },
    };
  }

  async function info(id: number): Promise<ScreenshotInfo | undefined> {
    const text = await ifThere(readFile(join(captureDirectory(data.path, id), INFO_FILE), 'utf8'));
    return text === undefined ? undefined : parseScreenshotInfo(text);
  }

  async function openArtifact(id: number, kind: ArtifactKind): Promise<OpenArtifact | undefined> {
    const about = await info(id);
    if (about === undefined) return undefined;
    const name = kind === 'image' ? imageFile(about.format) : HTML_FILE;
    const file = await ifThere(open(join(captureDirectory(data.path, id), name), 'r'));
    if (file === undefined) return undefined;
    const { size } = await file.stat();
    return {
      info: about,
      bytes: size,
      stream: (range) => file.createReadStream(range ?? { start: 0 }),
      close: () => file.close(),
    };
  }

  async function list(limit: number, before: number = Number.MAX_SAFE_INTEGER): Promise<readonly ScreenshotInfo[]> {
    const infos: ScreenshotInfo[] = [];
    let ids: number[] = [];
    const read = async () => {
      for (const one of await Promise.all(ids.map(info)))
        if (one !== undefined && infos.length < limit) infos.push(one);
      ids = [];
    };
    for await (const id of idsBefore(data.path, before)) {
      ids.push(id);
      if (ids.length >= Math.min(READ_TOGETHER, limit - infos.length)) await read();
      if (infos.length >= limit) break;
    }
    await read();
    return infos;
  }

  const has = async (id: number) =>
    (await ifThere(readFile(join(captureDirectory(data.path, id), INFO_FILE)))) !== undefined;

  async function removeAll(ids: readonly number[]): Promise<RemovedFiles> {
    let captures = 0;
    let bytes = 0;
    await removeCaptures(data, ids, (id, size) => {
      captures += 1;
      bytes += size;
      stored.changed(id, -size);
    });
    return { captures, bytes };
  }

  return {
    put,
    stage,
    info,
    open: openArtifact,
    list,
    has,
    oldest: () => idsOldestFirst(data.path),
    sizeOf: (id) => bytesOfCapture(captureDirectory(data.path, id)),
    remove: removeAll,
    get bytes() {
      return stored.total;
    },
    measure: (signal) => stored.measure(signal),
  };
}

/** The time directories are made when the first capture of a minute comes. */
async function moveInto(directory: string, target: string): Promise<void> {
  for (let move = 1; ; move += 1) {
    try {
      return await rename(directory, target);
    } catch (error) {
      if (codeOf(error) !== 'ENOENT' || move === MOVES) throw error;
      await makeDirectory(dirname(target));
    }
  }
}

async function remove(directory: string): Promise<void> {
  await rm(directory, { recursive: true, force: true });
}
