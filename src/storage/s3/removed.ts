import { randomUUID } from 'node:crypto';
import { sha256 } from '../files/record-file.ts';
import type { S3Client } from './client.ts';

export const REMOVED = 'removed/';

/** Notes the images of captures before the captures are removed, so that a crash leaves none that cannot be found. */
export async function noteRemoved(client: S3Client, images: readonly string[]): Promise<void> {
  if (images.length === 0) return;
  const body = Buffer.from(images.join('\n'));
  await client.send({ method: 'PUT', key: `${REMOVED}${randomUUID()}`, body, payload: await sha256(body) });
}
