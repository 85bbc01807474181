import { ARTIFACTS } from '../../capture/artifacts.ts';
import { CapstanError } from '../../capture/errors.ts';
import type { Marks } from '../../capture/marks.ts';
import type { ScreenshotInfo } from '../../capture/screenshot-info.ts';
import { timeNames } from '../files/layout.ts';
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
import { noteRemoved } from './removed.ts';

/** Number of times that a capture is written again when others have changed it meanwhile. */
const MARK_ATTEMPTS = 5;
/** Number of captures whose heads a list reads at once. */
const READ_TOGETHER = 16;

/** `presignSeconds`: for how long URLs of images are valid; null: there are none. */
export function createS3Store(client: S3Client, presignSeconds: number | null = null): ArtifactStore {
  return createRemoteStore(s3Backend(client, presignSeconds));
}

function s3Backend(client: S3Client, presignSeconds: number | null): Backend<S3File> {
  /** Whether the store has conditional puts: false once it has refused one. */
  let isConditional = true;
  /** The same of those that require a version. */
  let hasVersions = true;

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

  function put(key: string, body: Uint8Array, payload: string, headers: Readonly<Record<string, string>>) {
    const checksum = { 'x-amz-checksum-sha256': Buffer.from(payload, 'hex').toString('base64') };
    const accepts = 'if-none-match' in headers || 'if-match' in headers ? [404, 409, 412, 501] : [];
    return client.send({ method: 'PUT', key, body, payload, headers: { ...headers, ...checksum }, accepts });
  }

  async function insert(capture: NewCapture<S3File>): Promise<number | undefined> {
    const { id } = capture.info;
    const { files } = capture;
    const body = packed(capture);
    // Later, the sweep takes the image for one of an upload that was cut short.
    if (files.some(({ begunAt = 0 }) => performance.now() - begunAt > UPLOAD_MS / 2)) {
      throw new CapstanError('artifacts_unavailable', 'The upload took too long, and is tried again.');
    }
    const payload = await sha256(body);
    const headers = { 'content-type': 'application/octet-stream' };
    if (isConditional) {
      const { status } = await put(captureKey(id), body, payload, { ...headers, 'if-none-match': '*' });
      if (status === 200) return bytesOf(files, body.length);
      isConditional = status !== 501;
    }
    const found = await findCapture(client, id);
    if (found === undefined) {
      if (isConditional) throw new CapstanError('artifacts_unavailable', 'The capture is being removed.');
      await put(captureKey(id), body, payload, headers);
      return bytesOf(files, body.length);
    }
    // An upload whose answer was lost.
    const isOwn = found.files.some(({ key }) => key !== undefined && files.some((file) => file.key === key));
    return isOwn ? found.bytes : undefined;
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

  async function list(limit: number, before: number): Promise<readonly ScreenshotInfo[]> {
    const infos: ScreenshotInfo[] = [];
    let ids: number[] = [];
    const read = async () => {
      for (const one of await Promise.all(ids.map((id) => findCapture(client, id)))) {
        if (one !== undefined && infos.length < limit) infos.push(one.info);
      }
      ids = [];
    };
    for await (const id of newest(before)) {
      ids.push(id);
      if (ids.length >= Math.min(READ_TOGETHER, limit - infos.length)) await read();
      if (infos.length >= limit) break;
    }
    await read();
    return infos;
  }

  /** Ids below `before`, greatest first: a bucket lists keys only in ascending order, so one minute at a time. */
  async function* newest(before: number): AsyncGenerator<number> {
    const last = timeNames(before);
    for (const day of (await foldersIn('captures/')).reverse()) {
      if (day > last.day) continue;
      for (const minute of (await foldersIn(`captures/${day}/`)).reverse()) {
        if (day === last.day && minute > last.minute) continue;
        const listed = await Array.fromAsync(listedCaptures(client, minuteOf(day, minute)));
        yield* listed
          .map(({ id }) => id)
          .filter((id) => id < before)
          .sort((a, b) => b - a);
      }
    }
  }

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
      const key = captureKey(id);
      const { status, headers, body } = await client.send({ method: 'GET', key, accepts: [404] });
      if (status === 404) return 0;
      const changed = withMarks(body, marks);
      if (changed === undefined) throw new CapstanError('artifact_damaged');
      const type = { 'content-type': 'application/octet-stream' };
      const payload = await sha256(changed);
      const condition = { 'if-match': headers.etag ?? '*' };
      const answer = hasVersions
        ? await put(key, changed, payload, { ...type, ...condition })
        : await put(key, changed, payload, type);
      if (answer.status === 200) return changed.length - body.length;
      hasVersions &&= answer.status !== 501;
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
    await noteRemoved(
      client,
      found.flatMap(({ files }) => files.flatMap(({ key }) => (key === undefined ? [] : [key]))),
    );
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
    discard: (files) => client.remove(files.flatMap(({ key }) => (key === undefined ? [] : [key]))),
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
    list,
    mark,
    oldest,
    remove,
    sums,
  };
}

function bytesOf(files: readonly S3File[], size: number): number {
  return files.reduce((sum, { key, bytes }) => sum + (key === undefined ? 0 : bytes), size);
}
