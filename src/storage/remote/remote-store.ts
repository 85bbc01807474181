import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { type ArtifactKind, artifactFile } from '../../capture/artifacts.ts';
import { CapstanError } from '../../capture/errors.ts';
import type { StoredRecord } from '../../capture/result.ts';
import { checkedScreenshotInfo, screenshotInfo, sha256 } from '../files/record-file.ts';
import {
  type ArtifactStore,
  type CapturedFiles,
  filesIn,
  type OpenArtifact,
  type StagedCapture,
} from '../ports/artifact-store.ts';
import { asDetailed } from '../records/record.ts';
import type { Backend, FileContent, NewCapture, RemoteFile, Upload } from './backend.ts';

/** An artifact store that several processes share. */
export function createRemoteStore<F extends RemoteFile>(backend: Backend<F>): ArtifactStore {
  const { name, ask } = backend;
  let total: number | null = null;
  let shares: ReadonlyMap<string | null, number> = new Map();

  function changed(bytes: number): void {
    if (total !== null) total = Math.max(total + bytes, 0);
  }

  /**
   * Uploads the files. All uploads end before anything is removed: a running upload would leave its file behind.
   * Uploads that `ask` gives up continue; the sweep removes their files.
   */
  async function upload(contents: readonly FileContent[], as: Upload): Promise<readonly F[]> {
    const uploads = await Promise.allSettled(contents.map((content) => backend.upload(content, as)));
    const files = uploads.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
    const failed = uploads.find(({ status }) => status === 'rejected');
    if (failed?.status !== 'rejected') return files;
    // The sweep removes files that cannot be removed now.
    await backend.discard(files).catch(() => undefined);
    throw failed.reason;
  }

  async function stage(record: StoredRecord, captured: CapturedFiles, known?: string): Promise<StagedCapture> {
    const info = await screenshotInfo(record, captured.image, known);
    const contents = filesIn(captured).map(([kind, content]) => ({
      kind,
      name: artifactFile(kind, info.format),
      content: typeof content === 'string' ? Buffer.from(content) : content,
    }));
    const files = await ask(() => upload(contents, { info, name: randomUUID() }));
    return staged({ info, record: JSON.stringify(record), files });
  }

  function staged(capture: NewCapture<F>): StagedCapture {
    const { info, files } = capture;
    let state: 'uploaded' | 'published' | 'unknown' | 'deleted' = 'uploaded';
    const deleteUnused = async () => {
      state = 'deleted';
      await ask(() => backend.discard(files));
    };
    return {
      info,
      publish: async () => {
        // Until there is an answer, the capture may appear at any time.
        state = 'unknown';
        const bytes = await ask(() => backend.insert(capture));
        if (bytes !== undefined) {
          state = 'published';
          changed(bytes);
        } else await deleteUnused().catch(() => undefined);
        return bytes !== undefined;
      },
      discard: async () => {
        if (state === 'published') await remove([info.id]);
        else if (state === 'uploaded') await deleteUnused();
      },
    };
  }

  const find = (id: number) => ask(() => backend.find(id));

  async function record(id: number): Promise<StoredRecord | undefined> {
    const found = await ask(() => backend.record(id));
    if (found === undefined) return undefined;
    const { evidence, ...rest } = JSON.parse(found);
    return asDetailed(rest, evidence);
  }

  async function openArtifact(id: number, kind: ArtifactKind): Promise<OpenArtifact | undefined> {
    const found = await find(id);
    const file = found?.files.find((one) => one.kind === kind);
    if (found === undefined || file === undefined) return undefined;
    const { bytes } = file;
    // Looked for before the head of an answer is sent: after it, a missing file can only break it off.
    const read = bytes === 0 ? () => Readable.from([]) : await ask(() => backend.open(file, found));
    if (read === undefined) {
      throw new CapstanError(
        'artifact_damaged',
        `The ${kind} of the capture ${id} is incomplete in the ${name} store.`,
      );
    }
    return {
      info: checkedScreenshotInfo(found.info),
      bytes,
      sha256: file.sha256,
      location: backend.location?.(file),
      stream: ({ start, end } = { start: 0, end: bytes - 1 }) => read({ start, end: Math.min(end, bytes - 1) }),
      close: () => Promise.resolve(),
    };
  }

  async function remove(ids: readonly number[]) {
    const sizes = await ask(() => backend.remove(ids));
    const bytes = sizes.reduce((sum, one) => sum + one, 0);
    changed(-bytes);
    return { captures: sizes.length, bytes };
  }

  async function measure(signal?: AbortSignal): Promise<number> {
    shares = await backend.sums(signal);
    total = shares.values().reduce((sum, bytes) => sum + bytes, 0);
    return total;
  }

  async function probe(): Promise<void> {
    const content = { kind: 'image', name: 'probe', content: Buffer.from('probe') } as const;
    const as = { info: { id: 0, format: 'png', sha256: await sha256(content.content) }, name: randomUUID() } as const;
    await ask(async () => backend.discard(await upload([content], as)));
  }

  return {
    id: () => Promise.resolve(name),
    probe,
    stage,
    has: async (id) => (await find(id)) !== undefined,
    info: async (id) => {
      const found = await find(id);
      return found && checkedScreenshotInfo(found.info);
    },
    record,
    open: openArtifact,
    list: async (limit, before = Number.MAX_SAFE_INTEGER) =>
      (await ask(() => backend.list(limit, before))).map(checkedScreenshotInfo),
    mark: async (id, marks) => changed(await ask(() => backend.mark(id, marks))),
    oldest: (key) => backend.oldest(key),
    oldestAfter: (id) => backend.oldest(undefined, id),
    sizeOf: async (id) => (await find(id))?.bytes ?? 0,
    remove,
    get bytes() {
      return total;
    },
    measure,
    shares: () => shares,
  };
}
