import { hash, randomUUID } from 'node:crypto';
import { CapstanError } from '../../capture/errors.ts';
import type { HeldLock } from '../ports/lock.ts';
import { createSweepPass, READING_MS, type Sweep, UPLOAD_MS } from '../remote/sweep.ts';
import { findCapture, listedIds } from './captures.ts';
import type { S3Client } from './client.ts';
import { partOf } from './keys.ts';
import { EMPTY } from './sign.ts';

/*
 * Deletes the images that no capture names:
 *
 *   - images of removed captures, when their readers have had time to finish;
 *   - images of uploads that a crash or an outage cut short. All images are compared with the captures once a day, and
 *     those that no capture names are noted as if their capture had been removed: it may be one that just was.
 *
 * An upload that is still under way after that time gives up before it makes its capture appear.
 */

/** Notes of images that are due for deletion. */
const REMOVED = 'removed/';
const SWEPT = 'swept';
const DAY_MS = 24 * 60 * 60_000;
/** Minimum time between two looks at the object `swept`, in milliseconds. */
const RETRY_MS = 60_000;

export interface SweepOptions {
  readonly client: S3Client;
  readonly lock: () => Promise<HeldLock | undefined>;
  readonly readingMs?: number;
  readonly uploadMs?: number;
  /** Time between two comparisons of all images with the captures, in milliseconds. */
  readonly compareMs?: number;
  /** Called with failures; the next pass retries. */
  readonly onProblem?: (problem: unknown) => void;
}

export function createSweep(options: SweepOptions): Sweep {
  const { client, lock, readingMs = READING_MS, uploadMs = UPLOAD_MS, compareMs = DAY_MS, onProblem } = options;
  /** When the object `swept` is looked at next, by the clock of the process. */
  let comparesAt = 0;

  async function* compareAll(): AsyncGenerator<number> {
    if (performance.now() < comparesAt) return;
    const { status, headers } = await client.send({ method: 'HEAD', key: SWEPT, accepts: [404] });
    const age = Date.parse(headers.date ?? '') - Date.parse(headers['last-modified'] ?? '');
    const isDue = status === 404 || !(age < compareMs);
    if (isDue) {
      for await (const unnamed of unnamedBefore(client, uploadMs)) {
        await noteRemoved(client, unnamed);
        yield 0;
      }
      await client.send({ method: 'PUT', key: SWEPT, body: new Uint8Array(), payload: EMPTY });
    }
    comparesAt = performance.now() + Math.max(compareMs - (isDue ? 0 : age), Math.min(compareMs, RETRY_MS));
  }

  async function* sweepRemoved(): AsyncGenerator<number> {
    for await (const { objects, now } of client.list(REMOVED)) {
      for (const { key: note, changedAt } of objects) {
        if (changedAt >= now - readingMs) continue;
        const deleted = await sweepNote(note);
        await client.remove([note]);
        yield deleted;
      }
    }
  }

  /** A capture whose removal was cut short keeps its image. */
  async function sweepNote(note: string): Promise<number> {
    const { status, body } = await client.send({ method: 'GET', key: note, accepts: [404] });
    if (status === 404) return 0;
    const unnamed = await unnamedOf(client, body.toString().split('\n'));
    await client.remove(unnamed);
    return unnamed.length;
  }

  return createSweepPass({ lock, steps: () => [compareAll(), sweepRemoved()], onProblem });
}

/** Yields, for each id in the bucket, the images older than this that no capture names. */
export async function* unnamedBefore(client: S3Client, ms: number): AsyncGenerator<readonly string[]> {
  for await (const { images, isCapture, now } of listedIds(client)) {
    // A capture names the one image beside it.
    const doubtful = isCapture && images.length === 1 ? [] : images.filter(({ changedAt }) => changedAt < now - ms);
    yield await unnamedOf(
      client,
      doubtful.map(({ key }) => key),
    );
  }
}

/** Asks for the captures themselves, because a listing may lag. */
async function unnamedOf(client: S3Client, images: readonly string[]): Promise<readonly string[]> {
  const named = await Promise.all(images.map((image) => isNamed(client, image)));
  return images.filter((_, at) => !named[at]);
}

async function isNamed(client: S3Client, image: string): Promise<boolean> {
  const found = await findCapture(client, partOf(image)?.id ?? 0).catch((error: unknown) => {
    // The images of a capture that cannot be read stay; `db check` finds it.
    if (error instanceof CapstanError && error.code === 'artifact_damaged') return null;
    throw error;
  });
  return found === null || found?.files.some(({ key }) => key === image) === true;
}

/** Notes the images of captures before the captures are removed, so that a crash leaves none that cannot be found. */
export async function noteRemoved(client: S3Client, images: readonly string[]): Promise<void> {
  if (images.length === 0) return;
  const body = Buffer.from(images.join('\n'));
  await client.send({ method: 'PUT', key: `${REMOVED}${randomUUID()}`, body, payload: hash('sha256', body) });
}
