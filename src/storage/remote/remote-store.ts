import { Readable } from 'node:stream';
import type { ArtifactKind } from '../../capture/artifacts/artifacts.ts';
import { CapstanError } from '../../capture/errors.ts';
import type { StoredRecord } from '../../capture/result/result.ts';
import { nullIfDamaged } from '../failures/store-errors.ts';
import { describeNewest } from '../files/ids-by-time.ts';
import { screenshotInfo } from '../files/record-file.ts';
import { createPace } from '../passes/pace.ts';
import type { ArtifactStore, ByteSpan, CapturedFiles, OpenArtifact } from '../ports/artifact-store.ts';
import type { Backend } from './backend.ts';
import { type FoundCapture, findCapture, listedCapture, listedCaptures, packedFile, wholeCapture } from './captures.ts';
import { keyOf } from './keys.ts';
import { keysOf, type PackedFile, packed } from './pack.ts';
import { noteRemoved, UPLOAD_MS } from './sweep.ts';

/**
 * An artifact store that several processes share. `uploadMs`: time after which a capture is not published, because the
 * sweep may delete its files, in milliseconds.
 */
export function createRemoteStore(backend: Backend, uploadMs = UPLOAD_MS / 2): ArtifactStore {
  const { pieceBytes } = backend;
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
      loose.map(({ key, content, facts }) => backend.putFile(key, content, facts)),
    );
    // All uploads have ended before anything is removed: a running one would leave its file behind.
    const failed = uploads.find((one) => one.status === 'rejected');
    // A clock that was set, or a machine that slept, counts as well.
    const isLate = Math.abs(Date.now() - begunAt) > uploadMs;
    if (failed !== undefined || isLate) {
      await removeUnused();
      throw (
        failed?.reason ?? new CapstanError('artifacts_unavailable', 'The upload took too long, and is tried again.')
      );
    }
    // Until this has an answer, the capture may appear at any time: its files stay.
    const isFirst = await show(info.id, capture, keys);
    if (isFirst) changed(loose.reduce((sum, { content }) => sum + content.byteLength, capture.length));
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
    return found === null || keysOf(found).some((each) => own.includes(each));
  }

  async function openArtifact(id: number, kind: ArtifactKind): Promise<OpenArtifact | undefined> {
    const found = await find(id);
    const file = found?.files.find((one) => one.kind === kind);
    if (found === undefined || file === undefined) return undefined;
    const { bytes, sha256 } = file;
    const key = 'key' in file ? file.key : undefined;
    // Looked for before the head of an answer is sent: after it, a missing file can only break it off.
    const read = 'key' in file ? await pieceReader(file.key, bytes) : await packedReader(found, file);
    if (read === undefined) {
      throw new CapstanError('artifact_damaged', `The ${kind} of the capture ${id} is incomplete in its store.`);
    }
    const { location } = backend;
    return {
      info: found.info,
      bytes,
      sha256,
      location: location && key !== undefined ? (named) => location(key, named) : undefined,
      stream: ({ start, end } = { start: 0, end: bytes - 1 }) =>
        Readable.from(read({ start, end: Math.min(end, bytes - 1) }), { objectMode: false }),
      close: () => Promise.resolve(),
    };
  }

  /** Reads a packed file at once, so that it can be read to its end when its capture is removed. */
  async function packedReader(found: FoundCapture, file: PackedFile) {
    const content = await packedFile(backend, found, file);
    return content && ((span: ByteSpan) => [content.subarray(span.start, span.end + 1)]);
  }

  /** Reads a file piece by piece, so that a slow reader holds little memory, and no connection. */
  async function pieceReader(key: string, bytes: number) {
    if ((await backend.size(key)) !== bytes) return undefined;
    return async function* (span: ByteSpan): AsyncGenerator<Buffer> {
      for (let start = span.start; start <= span.end; ) {
        const end = Math.min(start - (start % pieceBytes) + pieceBytes - 1, span.end);
        const piece = await backend.get(key, { start, end });
        if (piece?.length !== end + 1 - start) throw new CapstanError('artifact_damaged');
        yield piece;
        start = end + 1;
      }
    };
  }

  /** Finds the files of a capture and its bytes; undefined when there is no capture. */
  async function removable(id: number) {
    const found = await find(id).catch(nullIfDamaged);
    if (found !== null) return found && { id, files: keysOf(found), bytes: bytesOf(found) };
    // The head that names the files cannot be read.
    const listed = await listedCapture(backend, id);
    return { id, files: listed?.others.map(({ key }) => key) ?? [], bytes: listed?.bytes ?? 0 };
  }

  /** Removes captures. Their files are deleted later, when readers have had time to finish. */
  async function remove(ids: readonly number[]) {
    const found = (await Promise.all(ids.map(removable))).filter((one) => one !== undefined);
    if (found.length === 0) return { captures: 0, bytes: 0 };
    const files = found.flatMap((one) => one.files);
    await noteRemoved(backend, files);
    await backend.remove(found.flatMap(({ id }) => [keyOf(id, 'capture'), keyOf(id, 'marks')]));
    const bytes = found.reduce((sum, one) => sum + one.bytes, 0);
    changed(-bytes);
    return { captures: found.length, bytes };
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

  const info = async (id: number) => (await find(id))?.info;

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
    sizeOf: async (id) => (await removable(id))?.bytes ?? 0,
    remove,
    get bytes() {
      return total;
    },
    measure,
    shares: () => shares,
  };
}

/** Bytes of a whole capture. */
function bytesOf({ headBytes, files }: FoundCapture): number {
  return files.reduce((sum, { bytes }) => sum + bytes, headBytes);
}
