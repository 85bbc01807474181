import { ARTIFACTS } from '../../capture/artifacts.ts';
import { CapstanError } from '../../capture/errors.ts';
import type { Marks } from '../../capture/marks.ts';
import { type ByTime, listNewest } from '../files/ids-by-time.ts';
import { sha256 } from '../files/record-file.ts';
import { createPace } from '../passes/pace.ts';
import type { ArtifactStore, ByteSpan } from '../ports/artifact-store.ts';
import type { Backend, FileContent, FoundCapture, NewCapture, Upload } from '../remote/backend.ts';
import { createRemoteStore } from '../remote/remote-store.ts';
import { UPLOAD_MS } from '../remote/sweep.ts';
import { findCapture, listedCaptures, readRecord } from './captures.ts';
import type { S3Client } from './client.ts';
import { captureKey, imageKey, minuteOf } from './keys.ts';
import { packed, type S3File, withMarks } from './pack.ts';
import { noteRemoved } from './sweep.ts';

/** Number of times that a capture is written again when others have changed it meanwhile. */
const MARK_ATTEMPTS = 5;

const CAPTURE_TYPE = { 'content-type': 'application/octet-stream' };

type Headers = Readonly<Record<string, string>>;
type Condition = 'if-none-match' | 'if-match';

/** `presignSeconds`: for how long URLs of images are valid; null: there are none. */
export function createS3Store(client: S3Client, presignSeconds: number | null = null): ArtifactStore {
  return createRemoteStore(s3Backend(client, presignSeconds));
}

function s3Backend(client: S3Client, presignSeconds: number | null): Backend<S3File> {
  /** Conditions of puts that the store has refused. */
  const unknown = new Set<Condition>();

  async function upload({ kind, name, content }: FileContent, { info, name: upload }: Upload): Promise<S3File> {
    const begunAt = performance.now();
    const file = {
      kind,
      bytes: content.byteLength,
      sha256: kind === 'image' ? info.sha256 : await sha256(content),
      begunAt,
    };
    if (kind !== 'image' || file.bytes === 0) return { ...file, content };
    const key = imageKey(info, upload, name);
    await put(key, content, file.sha256, { 'content-type': ARTIFACTS.image.mediaType(info.format) });
    return { ...file, key };
  }

  function put(key: string, body: Uint8Array, payload: string, headers: Headers, accepts: readonly number[] = []) {
    const checksum = { 'x-amz-checksum-sha256': Buffer.from(payload, 'hex').toString('base64') };
    return client.send({ method: 'PUT', key, body, payload, headers: { ...headers, ...checksum }, accepts });
  }

  /** Resolves with whether the capture is written; undefined: the store does not have such a condition. */
  async function putIf(
    condition: Condition,
    value: string,
    id: number,
    body: Uint8Array,
  ): Promise<boolean | undefined> {
    if (unknown.has(condition)) return undefined;
    const headers = { ...CAPTURE_TYPE, [condition]: value };
    const { status } = await put(captureKey(id), body, await sha256(body), headers, [404, 409, 412, 501]);
    if (status === 501) unknown.add(condition);
    return status === 501 ? undefined : status === 200;
  }

  async function putAlways(id: number, body: Uint8Array): Promise<true> {
    await put(captureKey(id), body, await sha256(body), CAPTURE_TYPE);
    return true;
  }

  async function insert(capture: NewCapture<S3File>): Promise<number | undefined> {
    const { info, files } = capture;
    const body = packed(capture);
    // Later, the sweep takes the image for one of an upload that was cut short.
    if (files.some(({ begunAt = 0 }) => performance.now() - begunAt > UPLOAD_MS / 2)) {
      throw new CapstanError('artifacts_unavailable', 'The upload took too long, and is tried again.');
    }
    const isWritten = await putIf('if-none-match', '*', info.id, body);
    const found = isWritten === true ? undefined : await findCapture(client, info.id);
    if (found !== undefined) {
      // An upload whose answer was lost.
      const isOwn = keysOf(found.files).some((key) => keysOf(files).includes(key));
      return isOwn ? found.bytes : undefined;
    }
    if (isWritten === false) throw new CapstanError('artifacts_unavailable', 'The capture is being removed.');
    if (isWritten === undefined) await putAlways(info.id, body);
    return bytesOf(files, body.length);
  }

  async function open(file: S3File, { info, files, bytes }: FoundCapture<S3File>) {
    const { key, start = 0 } = file;
    if (key === undefined) {
      const size = bytes - bytesOf(files, 0);
      if (start + file.bytes > size) return undefined;
      return (span: ByteSpan) => client.read(captureKey(info.id), { start: start + span.start, end: start + span.end });
    }
    const { status, headers } = await client.send({ method: 'HEAD', key, accepts: [404] });
    if (status === 404 || Number(headers['content-length']) !== file.bytes) return undefined;
    return (span: ByteSpan) => client.read(key, span);
  }

  /** A bucket lists keys only in ascending order: newest first, one minute at a time. */
  const byTime: ByTime = {
    days: () => foldersIn('captures/'),
    minutes: (day) => foldersIn(`captures/${day}/`),
    ids: async (day, minute) =>
      (await Array.fromAsync(listedCaptures(client, minuteOf(day, minute)))).map(({ id }) => id).sort((a, b) => a - b),
  };

  /** Names of the folders in a folder, in ascending order. */
  async function foldersIn(prefix: string): Promise<string[]> {
    const names: string[] = [];
    for await (const { folders } of client.list(prefix, '/')) {
      names.push(...folders.map((folder) => folder.slice(prefix.length, -1)));
    }
    return names;
  }

  /** Writes the capture again. Where the store has conditions, a removal or another change meanwhile is not undone. */
  async function mark(id: number, marks: Marks): Promise<number> {
    for (let attempt = 0; attempt < MARK_ATTEMPTS; attempt += 1) {
      const { status, headers, body } = await client.send({ method: 'GET', key: captureKey(id), accepts: [404] });
      if (status === 404) return 0;
      const changed = withMarks(body, marks);
      if (changed === undefined) throw new CapstanError('artifact_damaged');
      const isWritten = await putIf('if-match', headers.etag ?? '*', id, changed);
      if (isWritten ?? (await putAlways(id, changed))) return changed.length - body.length;
    }
    throw new CapstanError('artifacts_unavailable', `The capture ${id} is changed by others all the time.`);
  }

  async function* oldest(key?: string | null, after = 0): AsyncGenerator<number> {
    for await (const { id, apiKey } of listedCaptures(client)) {
      if (id > after && (key === undefined || key === apiKey)) yield id;
    }
  }

  async function remove(ids: readonly number[]): Promise<readonly number[]> {
    const found = (await Promise.all(ids.map((id) => findCapture(client, id)))).filter((one) => one !== undefined);
    if (found.length === 0) return [];
    const images = found.flatMap(({ files }) => keysOf(files));
    await noteRemoved(client, images);
    await client.remove(found.map(({ info }) => captureKey(info.id)));
    return found.map(({ bytes }) => bytes);
  }

  async function sums(signal: AbortSignal | undefined): Promise<ReadonlyMap<string | null, number>> {
    const pace = createPace(signal);
    const found = new Map<string | null, number>();
    for await (const { bytes, apiKey } of listedCaptures(client)) {
      found.set(apiKey, (found.get(apiKey) ?? 0) + bytes);
      signal?.throwIfAborted();
      await pace();
    }
    return found;
  }

  return {
    name: 's3',
    ask: (work) => work(),
    upload,
    discard: (files) => client.remove(keysOf(files)),
    insert,
    find: (id) => findCapture(client, id),
    record: (id) => readRecord(client, id),
    open,
    location: ({ key }) =>
      key === undefined || presignSeconds === null
        ? undefined
        : ({ type, file }) =>
            client.presign(key, presignSeconds, {
              'response-content-type': type,
              'response-content-disposition': `inline; filename="${file}"`,
            }),
    list: (limit, before) => listNewest(byTime, async (id) => (await findCapture(client, id))?.info, { limit, before }),
    mark,
    oldest,
    remove,
    sums,
  };
}

function keysOf(files: readonly S3File[]): readonly string[] {
  return files.flatMap(({ key }) => (key === undefined ? [] : [key]));
}

function bytesOf(files: readonly S3File[], size: number): number {
  return files.reduce((sum, { key, bytes }) => sum + (key === undefined ? 0 : bytes), size);
}
