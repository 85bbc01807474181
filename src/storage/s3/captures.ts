import { CapstanError } from '../../capture/errors.ts';
import type { FoundCapture } from '../remote/backend.ts';
import type { S3Client, S3Object } from './client.ts';
import { captureKey, partOf } from './keys.ts';
import { type S3File, type Unpacked, unpacked } from './pack.ts';

/** Bytes that are read to find the head of a capture, and those that are read where it is longer. */
const HEAD_BYTES = [8 * 1024, 4 * 1024 * 1024];

interface FoundObject extends Unpacked, FoundCapture<S3File> {
  /** The record, when it was read with the head. */
  readonly record: Buffer | undefined;
}

/** Finds a capture; undefined when there is none, whatever a listing says. */
export async function findCapture(client: S3Client, id: number): Promise<FoundObject | undefined> {
  for (const bytes of HEAD_BYTES) {
    const headers = { range: `bytes=0-${bytes - 1}` };
    const answer = await client.send({ method: 'GET', key: captureKey(id), headers, accepts: [404] });
    if (answer.status === 404) return undefined;
    const found = headOf(answer.body, id);
    if (found === undefined) continue;
    const size = Number(answer.headers['content-range']?.split('/')[1] ?? answer.body.length);
    const images = found.files.filter(({ key }) => key !== undefined);
    const record = size === answer.body.length ? answer.body.subarray(found.recordStart) : undefined;
    return { ...found, record, bytes: images.reduce((sum, file) => sum + file.bytes, size) };
  }
  throw new CapstanError('artifact_damaged', `The capture ${id} has no readable head in the object store.`);
}

/** Reads the record of a capture as JSON, up to the end of the object: it may have become longer since its head was read. */
export async function readRecord(client: S3Client, id: number): Promise<string | undefined> {
  const found = await findCapture(client, id);
  if (found === undefined || found.record !== undefined) return found?.record?.toString();
  const headers = { range: `bytes=${found.recordStart}-` };
  const { status, body } = await client.send({ method: 'GET', key: captureKey(id), headers, accepts: [404] });
  return status === 404 ? undefined : body.toString();
}

function headOf(body: Buffer, id: number): Unpacked | undefined {
  try {
    return unpacked(body);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new CapstanError('artifact_damaged', `The capture ${id} has no readable head in the object store.`);
  }
}

/** The objects of one id in a listing. */
export interface Listed {
  readonly id: number;
  isCapture: boolean;
  readonly images: S3Object[];
  bytes: number;
  apiKey: string | null;
  /** Time of the store. */
  readonly now: number;
}

/** Iterates over what a listing has, one id after the other, oldest first. */
export async function* listedIds(client: S3Client, prefix = 'captures/'): AsyncGenerator<Listed> {
  let last: Listed | undefined;
  for await (const { objects, now } of client.list(prefix)) {
    for (const object of objects) {
      const part = partOf(object.key);
      if (part === undefined) continue;
      if (part.id !== last?.id) {
        if (last !== undefined) yield last;
        last = { id: part.id, isCapture: false, images: [], bytes: 0, apiKey: null, now };
      }
      last.bytes += object.bytes;
      last.isCapture ||= !part.isImage;
      if (!part.isImage) continue;
      last.images.push(object);
      last.apiKey = part.apiKey;
    }
  }
  if (last !== undefined) yield last;
}

/** Iterates over the captures that a listing has. */
export async function* listedCaptures(client: S3Client, prefix?: string): AsyncGenerator<Listed> {
  for await (const one of listedIds(client, prefix)) if (one.isCapture) yield one;
}
