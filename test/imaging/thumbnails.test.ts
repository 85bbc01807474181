import { firstValueFrom, NEVER, Subject } from 'rxjs';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ScreenshotInfo } from '../../src/capture/artifacts/screenshot-info.ts';
import { boundedThumbnail, type Thumbnail } from '../../src/capture/artifacts/thumbnail.ts';
import { CapstanError } from '../../src/capture/errors.ts';
import { createThumbnails } from '../../src/imaging/thumbnails.ts';
import { createFileThumbnailStore } from '../../src/storage/files/file-thumbnail-store.ts';
import type { OpenArtifact } from '../../src/storage/ports/artifact-store.ts';
import { openParts, type Parts } from '../storage/parts.ts';
import { putCapture } from '../storage/put-capture.ts';
import { resultOf } from '../storage/result-of.ts';
import { makeDirectory } from '../support/temporary-directory.ts';

const thumbnail = (width: number): Thumbnail => ({ width, height: undefined, format: 'webp', quality: 80 });

let directory: string;
let parts: Parts;
let info: ScreenshotInfo;

beforeAll(async () => {
  directory = await makeDirectory();
  parts = await openParts(directory, { database: false });
  const image = await sharp({ create: { width: 800, height: 600, channels: 3, background: 'red' } })
    .png()
    .toBuffer();
  info = await putCapture(parts.artifacts, resultOf(7), { image, html: '' });
});

afterAll(async () => {
  await parts.close();
});

/** Thumbnails whose images are read when `release` is called; `opened` counts those that were begun. */
function held() {
  const released = new Subject<void>();
  const begun: Promise<OpenArtifact | undefined>[] = [];
  const open = async (id: number) => {
    const opening = firstValueFrom(released).then(() => parts.artifacts.open(id, 'image'));
    begun.push(opening);
    return opening;
  };
  const store = createFileThumbnailStore(parts.data.path, 1024 ** 2);
  const thumbnails = createThumbnails({ open, has: (id) => parts.artifacts.has(id) }, store);
  return { thumbnails, begun, release: () => released.next() };
}

describe('boundedThumbnail', () => {
  it.each([
    ['webp', 'png', [1280, undefined], [1280, 4000], [1280, undefined]],
    ['webp', 'png', [undefined, undefined], [1280, 16_384], [809, undefined]],
    ['avif', 'png', [undefined, 2048], [1280, 2048], [991, undefined]],
    // Cut to the upper part.
    ['avif', 'png', [2048, 2048], [4096, 16_384], [1254, 1254]],
    ['jpeg', 'webp', [1280, 720], [1280, 16_000], [819, 460]],
    ['jpeg', 'webp', [320, 200], [1280, 16_000], [320, 200]],
    ['jpeg', 'png', [2048, undefined], [4096, 16_384], [2048, undefined]],
    ['png', 'pdf', [320, undefined], [0, 0], [320, undefined]],
  ] as const)(
    'makes %s of %s, %j of %j, with %j pixels',
    (format, of, [width, height], [ofWidth, ofHeight], expected) => {
      const image = { format: of, width: ofWidth, height: ofHeight };
      const bounded = boundedThumbnail({ width, height, format, quality: 80 }, image);
      expect([bounded.width, bounded.height]).toEqual(expected);
    },
  );
});

describe('thumbnails', () => {
  it('makes a thumbnail once for concurrent requests', async () => {
    const { thumbnails, begun, release } = held();
    const asked = Array.from({ length: 8 }, () => thumbnails.of(info, thumbnail(100), NEVER));
    await expect.poll(() => begun.length).toBe(1);
    release();
    const made = await Promise.all(asked);
    expect(new Set(made).size).toBe(1);
    expect(begun).toHaveLength(1);
  });

  it('makes at most two thumbnails at a time', async () => {
    const { thumbnails, begun, release } = held();
    const asked = [1, 2, 3].map((width) => thumbnails.of(info, thumbnail(width), NEVER));
    await expect.poll(() => begun.length).toBe(2);
    release();
    await expect.poll(() => begun.length).toBe(3);
    release();
    expect(await Promise.all(asked)).toEqual(Array(3).fill(expect.any(Buffer)));
  });

  it('makes no thumbnail when all its callers have gone before it is begun', async () => {
    const { thumbnails, begun, release } = held();
    const busy = [11, 12].map((width) => thumbnails.of(info, thumbnail(width), NEVER));
    await expect.poll(() => begun.length).toBe(2);
    const gone = new Subject<never>();
    const left = thumbnails.of(info, thumbnail(13), gone);
    const stays = thumbnails.of(info, thumbnail(14), NEVER);
    // Requests wait in order: once this third one waits, the two before it do, too.
    const third = thumbnails.of(info, thumbnail(15), NEVER);
    const refused = expect(left).rejects.toThrow('the client went');
    await expect.poll(() => gone.observed).toBe(true);
    gone.error(new Error('the client went'));
    await refused;
    release();
    await Promise.all(busy);
    await expect.poll(() => begun.length).toBe(4);
    release();
    await Promise.all([stays, third]);
    expect(begun).toHaveLength(4);
  });

  it('lets owners take turns, and gives one owner no more than a share of the places', async () => {
    const { thumbnails, begun, release } = held();
    const gone = new Subject<never>();
    const of = (width: number, owner: string) => thumbnails.of(info, thumbnail(width), gone, owner);
    const flood = Array.from({ length: 600 }, (_, at) => of(200 + at, 'flood'));
    const ended = Promise.allSettled(flood);
    const refused = flood.map((asked) => asked.then(() => Promise.reject(new Error('it was made'))).catch(refusalOf));
    expect(await Promise.any(refused)).toMatchObject({ code: 'queue_full' });
    await expect.poll(() => begun.length).toBe(2);
    const other = of(900, 'shop');
    let isMade = false;
    void other.then(() => {
      isMade = true;
    });
    // Only those under way go before it.
    for (const begunByThen of [4, 6]) {
      release();
      await expect.poll(() => begun.length).toBe(begunByThen);
    }
    release();
    await expect.poll(() => isMade).toBe(true);
    expect(begun.length).toBeLessThanOrEqual(8);
    gone.error(new Error('all gone'));
    await ended;
    release();
  });

  it('refuses with queue_full while 1000 requests wait, and accepts again after that', async () => {
    const { thumbnails, begun, release } = held();
    const busy = [901, 902].map((width) => thumbnails.of(info, thumbnail(width), NEVER));
    await expect.poll(() => begun.length).toBe(2);
    const gone = new Subject<never>();
    // One more than the maximum number of waiting requests.
    const waiting = Array.from({ length: 1001 }, (_, at) => thumbnails.of(info, thumbnail(1000 + at), gone));
    const ended = Promise.allSettled(waiting);
    const refused = waiting.map((asked) => asked.then(() => Promise.reject(new Error('it was made'))).catch(refusalOf));
    expect(await Promise.any(refused)).toMatchObject({ retryAfterSeconds: expect.any(Number) });
    gone.error(new Error('all gone'));
    await ended;
    release();
    await Promise.all(busy);
    const after = thumbnails.of(info, thumbnail(2047), NEVER);
    await expect.poll(() => begun.length).toBe(3);
    release();
    expect(await after).toBeInstanceOf(Buffer);
  });
});

/** Returns a refusal, and throws every other error again. */
function refusalOf(error: unknown): CapstanError {
  if (error instanceof CapstanError && error.code === 'queue_full') return error;
  throw error;
}
