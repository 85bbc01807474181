import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { ARTIFACTS, type ArtifactKind, artifactFile } from '../../capture/artifacts/artifacts.ts';
import type { ScreenshotInfo } from '../../capture/artifacts/screenshot-info.ts';
import { CapstanError } from '../../capture/errors.ts';
import type { StoredRecord } from '../../capture/result/result.ts';
import { nullIfDamaged } from '../failures/store-errors.ts';
import { describeNewest } from '../files/ids-by-time.ts';
import { checkedScreenshotInfo, screenshotInfo, sha256 } from '../files/record-file.ts';
import { createPace } from '../passes/pace.ts';
import type { ArtifactStore, ByteSpan, CapturedFiles, OpenArtifact, StagedCapture } from '../ports/artifact-store.ts';
import { filesIn } from '../records/captured-files.ts';
import type { Backend } from './backend.ts';
import { bytesBeside, type FoundCapture, findCapture, listedCaptures, packedBytes, wholeCapture } from './captures.ts';
import { fileKey, keyOf } from './keys.ts';
import { createPacking, keysOf, type NewFile, packed, type StoredFile } from './pack.ts';
import { findRemovable, removeCaptures } from './removal.ts';
import { UPLOAD_MS } from './sweep.ts';

/** Number of bytes of a file that are read at once. */
const PIECE_BYTES = 2 * 1024 * 1024;

interface RemoteStoreOptions {
  /** Time after which a capture is not published, because the sweep may delete its files, in milliseconds. */
  readonly uploadMs?: number;
}

/** An artifact store that several processes share. */
export function createRemoteStore(
  backend: Backend,
  { uploadMs = UPLOAD_MS / 2 }: RemoteStoreOptions = {},
): ArtifactStore {
  const find = (id: number) => findCapture(backend, id);
  let total: number | null = null;
  let shares: ReadonlyMap<string | null, number> = new Map();

  function changed(bytes: number): void {
    if (total !== null) total = Math.max(total + bytes, 0);
  }

  /** All uploads end before anything is removed: a running one would leave its file behind. */
  async function upload(files: readonly NewFile[], { format }: Pick<ScreenshotInfo, 'format'>): Promise<void> {
    const uploads = await Promise.allSettled(
      files.map(async ({ kind, key, content, sha256 }) => {
        if (key !== undefined) await backend.putFile(key, content, { type: ARTIFACTS[kind].mediaType(format), sha256 });
      }),
    );
    const failed = uploads.find(({ status }) => status === 'rejected');
    if (failed?.status !== 'rejected') return;
    // The sweep removes files that cannot be removed now.
    await backend.remove(keysOf(files)).catch(() => undefined);
    throw failed.reason;
  }

  async function stage(record: StoredRecord, captured: CapturedFiles, known?: string): Promise<StagedCapture> {
    const begunAt = Date.now();
    const info = await screenshotInfo(record, captured.image, known);
    const name = randomUUID();
    const json = JSON.stringify(record);
    const isPacked = createPacking(json);
    const files: NewFile[] = [];
    for (const [kind, given] of filesIn(captured)) {
      const content = typeof given === 'string' ? Buffer.from(given) : given;
      const bytes = content.byteLength;
      const digest = kind === 'image' ? info.sha256 : await sha256(content);
      const key = isPacked(kind, bytes) ? undefined : fileKey(info, name, artifactFile(kind, info.format));
      files.push({ kind, bytes, sha256: digest, key, content });
    }
    await upload(files, info);
    return staged(info, files, packed(info, files, json), begunAt);
  }

  function staged(info: ScreenshotInfo, files: readonly StoredFile[], capture: Buffer, begunAt: number): StagedCapture {
    let state: 'uploaded' | 'published' | 'unknown' | 'deleted' = 'uploaded';
    const own = keysOf(files);
    const deleteUnused = async () => {
      state = 'deleted';
      await backend.remove(own);
    };
    return {
      info,
      publish: async () => {
        // A clock that was set, or a machine that slept, counts as well.
        if (Math.abs(Date.now() - begunAt) > uploadMs) {
          throw new CapstanError('artifacts_unavailable', 'The upload took too long, and is tried again.');
        }
        // Until there is an answer, the capture may appear at any time.
        state = 'unknown';
        const key = keyOf(info.id, 'capture');
        let isInserted = await backend.insert(key, capture);
        const found = isInserted ? undefined : await wholeCapture(backend, info.id).catch(nullIfDamaged);
        if (found === null) {
          // Nobody can read that one.
          await backend.put(key, capture);
          isInserted = true;
        }
        if (!isInserted && found === undefined) {
          throw new CapstanError('artifacts_unavailable', 'The capture is being removed.');
        }
        // The answer to an earlier attempt to insert it may have been lost.
        const isOwn = isInserted || keysOf(found?.files ?? []).some((each) => own.includes(each));
        if (isOwn) {
          state = 'published';
          changed(capture.length + bytesBeside(files));
        } else await deleteUnused().catch(() => undefined);
        return isOwn;
      },
      discard: async () => {
        if (state === 'published') await remove([info.id]);
        else if (state === 'uploaded') await deleteUnused();
      },
    };
  }

  async function openArtifact(id: number, kind: ArtifactKind): Promise<OpenArtifact | undefined> {
    const found = await find(id);
    const file = found?.files.find((one) => one.kind === kind);
    if (found === undefined || file === undefined) return undefined;
    const { bytes, sha256, key } = file;
    // Looked for before the head of an answer is sent: after it, a missing file can only break it off.
    const read = key === undefined ? await packedReader(found, file) : await pieceReader(key, bytes);
    if (read === undefined) {
      throw new CapstanError('artifact_damaged', `The ${kind} of the capture ${id} is incomplete in its store.`);
    }
    const { location } = backend;
    return {
      info: checkedScreenshotInfo(found.info),
      bytes,
      sha256,
      location: location && key !== undefined ? (named) => location(key, named) : undefined,
      stream: ({ start, end } = { start: 0, end: bytes - 1 }) =>
        Readable.from(read({ start, end: Math.min(end, bytes - 1) }), { objectMode: false }),
      close: () => Promise.resolve(),
    };
  }

  /** Reads a packed file at once, so that it can be read to its end when its capture is removed. */
  async function packedReader(found: FoundCapture, { start, bytes }: FoundCapture['files'][number]) {
    const content = await packedBytes(backend, found, start, bytes);
    return content && ((span: ByteSpan) => [content.subarray(span.start, span.end + 1)]);
  }

  /** Reads a file piece by piece, so that a slow reader holds little memory, and no connection. */
  async function pieceReader(key: string, bytes: number) {
    if ((await backend.size(key)) !== bytes) return undefined;
    return async function* (span: ByteSpan): AsyncGenerator<Buffer> {
      for (let start = span.start; start <= span.end; start += PIECE_BYTES) {
        const end = Math.min(start + PIECE_BYTES - 1, span.end);
        const piece = await backend.get(key, { start, end });
        if (piece?.content.length !== end + 1 - start) throw new CapstanError('artifact_damaged');
        yield piece.content;
      }
    };
  }

  async function remove(ids: readonly number[]) {
    const removed = await removeCaptures(backend, ids);
    changed(-removed.bytes);
    return removed;
  }

  async function measure(signal?: AbortSignal): Promise<number> {
    const pace = createPace(signal);
    const found = new Map<string | null, number>();
    for await (const { bytes, apiKey } of listedCaptures(backend)) {
      found.set(apiKey, (found.get(apiKey) ?? 0) + bytes);
      signal?.throwIfAborted();
      await pace();
    }
    shares = found;
    total = shares.values().reduce((sum, bytes) => sum + bytes, 0);
    return total;
  }

  async function* oldest(key?: string | null, after?: number): AsyncGenerator<number> {
    for await (const { id, apiKey } of listedCaptures(backend, after)) {
      if (key === undefined || key === apiKey) yield id;
    }
  }

  async function info(id: number): Promise<ScreenshotInfo | undefined> {
    const found = await find(id);
    return found && checkedScreenshotInfo(found.info);
  }

  const has = async (id: number) => (await backend.size(keyOf(id, 'capture'))) !== undefined;

  return {
    id: () => Promise.resolve(backend.name),
    probe: async () => {
      const content = Buffer.from('probe');
      const key = fileKey({ id: 0 }, randomUUID(), 'probe');
      await backend.putFile(key, content, { type: 'text/plain', sha256: await sha256(content) });
      await backend.remove([key]);
    },
    stage,
    has,
    info,
    record: async (id) => (await wholeCapture(backend, id))?.record,
    open: openArtifact,
    list: (limit, before = Number.MAX_SAFE_INTEGER) => describeNewest(backend.newest(before, limit), info, limit),
    mark: async (id, marks) => {
      if (await has(id)) await backend.put(keyOf(id, 'marks'), Buffer.from(JSON.stringify(marks)));
    },
    oldest: (key) => oldest(key),
    oldestAfter: (id) => oldest(undefined, id),
    sizeOf: async (id) => (await findRemovable(backend, id))?.bytes ?? 0,
    remove,
    get bytes() {
      return total;
    },
    measure,
    shares: () => shares,
  };
}
