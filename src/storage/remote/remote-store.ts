import { Readable } from 'node:stream';
import { ARTIFACTS, type ArtifactKind } from '../../capture/artifacts/artifacts.ts';
import type { ScreenshotInfo } from '../../capture/artifacts/screenshot-info.ts';
import { CapstanError } from '../../capture/errors.ts';
import type { StoredRecord } from '../../capture/result/result.ts';
import { nullIfDamaged } from '../failures/store-errors.ts';
import { describeNewest } from '../files/ids-by-time.ts';
import { checkedScreenshotInfo, screenshotInfo } from '../files/record-file.ts';
import { createPace } from '../passes/pace.ts';
import type { ArtifactStore, ByteSpan, CapturedFiles, OpenArtifact } from '../ports/artifact-store.ts';
import type { Backend } from './backend.ts';
import { type FoundCapture, findCapture, listedCaptures, packedBytes, wholeCapture } from './captures.ts';
import { keyOf } from './keys.ts';
import { keysOf, packed } from './pack.ts';
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

  async function put(record: StoredRecord, captured: CapturedFiles, known?: string): Promise<boolean> {
    const begunAt = Date.now();
    const info = await screenshotInfo(record, captured.image, known);
    const { capture, loose } = await packed(info, record, captured);
    const keys = loose.map(({ key }) => key);
    // The sweep removes files that cannot be removed now.
    const removeUnused = () => backend.remove(keys).catch(() => undefined);
    const uploads = await Promise.allSettled(
      loose.map(({ kind, key, content, sha256 }) =>
        backend.putFile(key, content, { type: ARTIFACTS[kind].mediaType(info.format), sha256 }),
      ),
    );
    try {
      // All uploads have ended before anything is removed: a running one would leave its file behind.
      for (const uploaded of uploads) if (uploaded.status === 'rejected') throw uploaded.reason;
      // A clock that was set, or a machine that slept, counts as well.
      if (Math.abs(Date.now() - begunAt) > uploadMs) {
        throw new CapstanError('artifacts_unavailable', 'The upload took too long, and is tried again.');
      }
    } catch (error) {
      await removeUnused();
      throw error;
    }
    // Until this has an answer, the capture may appear at any time: its files stay.
    const isFirst = await show(info.id, capture, keys);
    if (isFirst) changed(capture.length + loose.reduce((sum, { bytes }) => sum + bytes, 0));
    else await removeUnused();
    return isFirst;
  }

  /** Makes a capture appear; resolves with false when there is one with its id. `own`: the keys of its files. */
  async function show(id: number, capture: Buffer, own: readonly string[]): Promise<boolean> {
    const key = keyOf(id, 'capture');
    if (await backend.insert(key, capture)) return true;
    const found = await wholeCapture(backend, id).catch(nullIfDamaged);
    if (found === undefined) throw new CapstanError('artifacts_unavailable', 'The capture is being removed.');
    // The stored capture is damaged: replace it.
    if (found === null) await backend.put(key, capture);
    // The answer to an earlier attempt to insert it may have been lost.
    return found === null || keysOf(found.files).some((each) => own.includes(each));
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

  return {
    id: () => Promise.resolve(backend.name),
    put,
    has: async (id) => (await backend.size(keyOf(id, 'capture'))) !== undefined,
    info,
    record: async (id) => (await wholeCapture(backend, id))?.record,
    open: openArtifact,
    list: (limit, before = Number.MAX_SAFE_INTEGER) => describeNewest(backend.newest(before, limit), info, limit),
    // Also before the capture is uploaded. The sweep deletes marks without a capture: later uploads contain them.
    mark: (id, marks) => backend.put(keyOf(id, 'marks'), Buffer.from(JSON.stringify(marks))),
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
