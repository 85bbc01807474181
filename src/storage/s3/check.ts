import type { DamagedFile } from '../gridfs/damaged-files.ts';
import { UPLOAD_MS } from '../remote/sweep.ts';
import { findCapture, listedCaptures } from './captures.ts';
import type { S3Client } from './client.ts';
import { unnamedBefore } from './sweep.ts';

/** Finds captures whose image is missing or has another size. */
export async function* damagedImages(client: S3Client): AsyncGenerator<DamagedFile> {
  for await (const { id } of listedCaptures(client)) {
    for (const { key, kind, bytes } of (await findCapture(client, id))?.files ?? []) {
      if (key === undefined) continue;
      const { status, headers } = await client.send({ method: 'HEAD', key, accepts: [404] });
      if (status === 404 || Number(headers['content-length']) !== bytes) yield { id, kind };
    }
  }
}

/** Returns the number of images that no capture names, except those of uploads that may be under way. */
export async function unnamedImages(client: S3Client): Promise<number> {
  return (await Array.fromAsync(unnamedBefore(client, UPLOAD_MS))).flat().length;
}
