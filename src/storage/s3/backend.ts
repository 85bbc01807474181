import { idsBefore } from '../files/ids-by-time.ts';
import { sha256 } from '../files/record-file.ts';
import type { ByteSpan } from '../ports/artifact-store.ts';
import type { Backend, ListedObject } from '../remote/backend.ts';
import { CAPTURES, minuteOf, partsOf } from '../remote/keys.ts';
import type { Fields, S3Client } from './client.ts';

/** Maximum number of keys that one request deletes. */
const DELETED_TOGETHER = 1000;
/** With pieces of 2 MiB, 60 downloads that nobody read held the event loop for 260 ms; with these for 33 ms. */
const PIECE_BYTES = 512 * 1024;
const OBJECT_TYPE = 'application/octet-stream';

/** `presignSeconds`: for how long URLs of files are valid; null: there are none. */
export function s3Backend(client: S3Client, presignSeconds: number | null = null): Backend {
  let hasConditions = true;

  /** Resolves with the status. `digest`: the SHA-256, in hex. */
  async function put(key: string, body: Uint8Array, digest: string, headers: Fields, accepts: readonly number[] = []) {
    const checksum = { 'x-amz-checksum-sha256': Buffer.from(digest, 'hex').toString('base64') };
    const all = { ...headers, ...checksum };
    return (await client.send({ method: 'PUT', key, body, payload: digest, headers: all, accepts })).status;
  }

  async function insert(key: string, content: Uint8Array): Promise<boolean> {
    const digest = await sha256(content);
    const type = { 'content-type': OBJECT_TYPE };
    if (hasConditions) {
      const status = await put(key, content, digest, { ...type, 'if-none-match': '*' }, [409, 412, 501]);
      if (status !== 501) return status === 200;
      hasConditions = false;
    }
    if ((await size(key)) !== undefined) return false;
    await put(key, content, digest, type);
    return true;
  }

  async function get(key: string, { start, end }: ByteSpan): Promise<Buffer | undefined> {
    const headers = { range: `bytes=${start}-${end}` };
    const { status, body } = await client.send({ method: 'GET', key, headers, accepts: [404, 416] });
    if (status === 404) return undefined;
    return status === 416 ? Buffer.alloc(0) : body;
  }

  async function size(key: string): Promise<number | undefined> {
    const { status, headers } = await client.send({ method: 'HEAD', key, accepts: [404] });
    return status === 404 ? undefined : Number(headers['content-length']);
  }

  async function* list(prefix: string, after?: string): AsyncGenerator<ListedObject> {
    for await (const { objects } of client.list(prefix, { after })) yield* objects;
  }

  /** Names of the folders in a folder, in ascending order. */
  async function foldersIn(prefix: string): Promise<readonly string[]> {
    const pages = await Array.fromAsync(client.list(prefix, { delimiter: '/' }));
    return pages.flatMap(({ folders }) => folders.map((folder) => folder.slice(prefix.length, -1)));
  }

  async function idsOf(day: string, minute: string): Promise<readonly number[]> {
    const parts = (await Array.fromAsync(list(minuteOf(day, minute)))).map(({ key }) => partsOf(key));
    return parts.flatMap((one) => (one?.part === 'capture' ? [one.id] : []));
  }

  async function remove(keys: readonly string[]): Promise<void> {
    for (let at = 0; at < keys.length; at += DELETED_TOGETHER) {
      const some = keys.slice(at, at + DELETED_TOGETHER);
      // Some stores have no request for many.
      if (await client.removeTogether(some)) continue;
      for (const key of some) await client.send({ method: 'DELETE', key, accepts: [404] });
    }
  }

  return {
    name: 's3',
    pieceBytes: PIECE_BYTES,
    putFile: async (key, content, { type, sha256: digest }) =>
      void (await put(key, content, digest, { 'content-type': type })),
    put: async (key, content) => void (await put(key, content, await sha256(content), { 'content-type': OBJECT_TYPE })),
    insert,
    get,
    size,
    list,
    // A bucket lists keys only in ascending order: one minute at a time.
    newest: (before) =>
      idsBefore(
        { days: () => foldersIn(CAPTURES), minutes: (day) => foldersIn(`${CAPTURES}${day}/`), ids: idsOf },
        before,
      ),
    remove,
    location:
      presignSeconds === null
        ? undefined
        : (key, { type, file }) =>
            client.presign(key, presignSeconds, {
              'response-content-type': type,
              'response-content-disposition': `inline; filename="${file}"`,
            }),
    close: client.close,
  };
}
