import { CapstanError } from '../../capture/errors.ts';
import { sha256 } from '../files/record-file.ts';
import { createPace } from '../passes/pace.ts';
import type { HeldLock } from '../ports/lock.ts';
import { createSweepPass, READING_MS, type Sweep, type Swept, UPLOAD_MS } from '../remote/sweep.ts';
import { findCapture } from './captures.ts';
import type { S3Client, S3Object } from './client.ts';
import { partOf } from './keys.ts';
import { noteRemoved, REMOVED } from './removed.ts';

/*
 * Deletes the images that no capture names:
 *
 *   - images of removed captures, when their readers have had time to finish;
 *   - images of uploads that a crash or an outage cut short. All images are compared with the captures once a day, and
 *     those that no capture names are noted as if their capture had been removed.
 *
 * A listing may lag: what it lacks is asked for before anything is deleted. An upload that is still under way after
 * that time gives up before it makes its capture appear.
 */

const SWEPT = 'swept';
const DAY_MS = 24 * 60 * 60_000;
/** Number of images that are noted together. */
const NOTED_TOGETHER = 500;

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

  async function compareAll(): Promise<Swept> {
    const nothing = { deleted: 0, left: false };
    if (performance.now() < comparesAt) return nothing;
    const { status, headers } = await client.send({ method: 'HEAD', key: SWEPT, accepts: [404] });
    const age = Date.parse(headers.date ?? '') - Date.parse(headers['last-modified'] ?? '');
    comparesAt = performance.now() + Math.max(compareMs - (status === 404 ? 0 : age), Math.min(compareMs, 60_000));
    if (status !== 404 && age < compareMs) return nothing;
    const pace = createPace();
    let unnamed: string[] = [];
    for await (const image of unnamedBefore(client, uploadMs)) {
      unnamed.push(image);
      if (unnamed.length === NOTED_TOGETHER) await noteRemoved(client, unnamed.splice(0));
      await pace();
    }
    await noteRemoved(client, unnamed);
    unnamed = [];
    await client.send({ method: 'PUT', key: SWEPT, body: new Uint8Array(), payload: await sha256(new Uint8Array()) });
    return nothing;
  }

  async function sweepRemoved(): Promise<Swept> {
    for await (const { objects, now } of client.list(REMOVED)) {
      const notes = objects.filter(({ changedAt }) => changedAt < now - readingMs);
      let deleted = 0;
      for (const { key: note } of notes) deleted += await sweepNote(note);
      await client.remove(notes.map(({ key }) => key));
      return { deleted, left: notes.length > 0 && notes.length === objects.length };
    }
    return { deleted: 0, left: false };
  }

  /** A capture whose removal was cut short keeps its image. */
  async function sweepNote(note: string): Promise<number> {
    const { status, body } = await client.send({ method: 'GET', key: note, accepts: [404] });
    if (status === 404) return 0;
    const images = body.toString().split('\n');
    const named = await Promise.all(images.map((image) => isNamed(client, image)));
    const unnamed = images.filter((_, at) => !named[at]);
    await client.remove(unnamed);
    return unnamed.length;
  }

  return createSweepPass({ lock, steps: () => [compareAll, sweepRemoved], onProblem });
}

/** Iterates over images older than this that no capture names. */
export async function* unnamedBefore(client: S3Client, ms: number): AsyncGenerator<string> {
  for await (const image of imagesBefore(client, ms)) if (!(await isNamed(client, image))) yield image;
}

/** Images without a capture beside them in the listing, or with another image: the others are named by theirs. */
async function* imagesBefore(client: S3Client, ms: number): AsyncGenerator<string> {
  let id: number | undefined;
  let images: S3Object[] = [];
  let isCapture = false;
  let before = 0;
  const doubtful = () =>
    isCapture && images.length === 1 ? [] : images.filter(({ changedAt }) => changedAt < before).map(({ key }) => key);
  for await (const { objects, now } of client.list('captures/')) {
    before = now - ms;
    for (const object of objects) {
      const part = partOf(object.key);
      if (part === undefined) continue;
      if (part.id !== id) {
        yield* doubtful();
        id = part.id;
        images = [];
        isCapture = false;
      }
      if (part.isImage) images.push(object);
      else isCapture = true;
    }
  }
  yield* doubtful();
}

async function isNamed(client: S3Client, image: string): Promise<boolean> {
  const found = await findCapture(client, partOf(image)?.id ?? 0).catch((error: unknown) => {
    // What cannot be read names nothing that could be removed; `db check` finds it.
    if (error instanceof CapstanError && error.code === 'artifact_damaged') return null;
    throw error;
  });
  return found === null || found?.files.some(({ key }) => key === image) === true;
}
