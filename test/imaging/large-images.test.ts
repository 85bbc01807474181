import { execFileSync } from 'node:child_process';
import { createReadStream, readdirSync, readFileSync } from 'node:fs';
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import sharp, { type OverlayOptions } from 'sharp';
import { beforeAll, describe, expect, it } from 'vitest';
import { boundedThumbnail } from '../../src/capture/artifacts/thumbnail.ts';
import type { Compared, File } from '../../src/imaging/comparison/compared.ts';
import { createComparisonThread } from '../../src/imaging/comparison/comparison-thread.ts';
import { decode } from '../../src/imaging/comparison/decode.ts';
import { renderThumbnail } from '../../src/imaging/render-thumbnail.ts';
import { createDataDirectory } from '../../src/storage/files/data-directory.ts';
import type { ReadableFile } from '../../src/storage/ports/artifact-store.ts';
import { makeDirectory } from '../support/temporary-directory.ts';

const WIDTH = 1280;

interface Block {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
  readonly background: string;
}

/** Returns a striped page with blocks. */
async function page(height: number, blocks: readonly Block[]): Promise<File> {
  const stripes = Buffer.from(
    '<svg xmlns="http://www.w3.org/2000/svg" width="64" height="64"><path d="M0 0L64 37M9 64L40 0" stroke="#357"/></svg>',
  );
  const layers: readonly OverlayOptions[] = [
    { input: stripes, tile: true, left: 0, top: 0 },
    ...blocks.map(({ left, top, ...size }) => ({ input: { create: { ...size, channels: 3 as const } }, left, top })),
  ];
  const blank = { create: { width: WIDTH, height, channels: 3 as const, background: '#fff' } };
  return new Uint8Array(
    await sharp(blank)
      .composite([...layers])
      .png({ compressionLevel: 1 })
      .toBuffer(),
  );
}

/** Writes an image that no format makes smaller. */
async function noise(file: string, mean: number, height = 5000): Promise<ReadableFile> {
  const pattern = { type: 'gaussian' as const, mean, sigma: 60 };
  const create = { width: WIDTH, height, channels: 3 as const, background: '#fff', noise: pattern };
  const { size: bytes } = await sharp({ create }).png({ compressionLevel: 1 }).toFile(file);
  return { bytes, stream: () => createReadStream(file), close: async () => {} };
}

const comparing = (images: Compared['images'], others: Partial<Compared> = {}): Compared => ({
  ...{ images, texts: null, links: null, maps: null, onlyElements: null },
  ignore: { kinds: [], rectangles: [], texts: [], selectors: [] },
  ...{ inAnyOrder: false, draws: false, places: false, ...others },
});

/** Returns the memory of the process in bytes, without files that are mapped, whose memory the system takes back. */
function memory(): number {
  const [, kilobytes] = /^RssAnon:\s+(\d+)/mu.exec(readFileSync('/proc/self/status', 'utf8')) ?? [];
  return Number(kilobytes) * 1024;
}

/** Resolves with the outcome of work, and by how much the memory of the process grew meanwhile. */
async function measured<T>(work: () => Promise<T>): Promise<readonly [T, number]> {
  const before = memory();
  let peak = before;
  const sampling = setInterval(() => {
    peak = Math.max(peak, memory());
  }, 5);
  try {
    return [await work(), peak - before];
  } finally {
    clearInterval(sampling);
  }
}

/** Refuses this process files of more bytes, as a full disk would. */
function limitFiles(bytes: number | 'unlimited'): void {
  execFileSync('prlimit', ['--pid', String(process.pid), `--fsize=${bytes}:`]);
}

/** Returns the ids of the threads that run JavaScript, besides that of the process. */
function threads(): readonly string[] {
  const tasks = '/proc/self/task';
  return readdirSync(tasks).filter((id) => readFileSync(join(tasks, id, 'comm'), 'utf8') === 'WorkerThread\n');
}

describe.runIf(process.platform === 'linux')('a thumbnail of a page of 16,383 px', () => {
  const height = 16_383;
  const files: Record<string, Uint8Array> = {};

  beforeAll(async () => {
    const png = await page(height, []);
    Object.assign(files, { png, webp: await sharp(png).webp({ effort: 0 }).toBuffer() });
  });

  it.each([
    ['png', 'avif', [350, 4480]],
    ['png', 'webp', [809, 10_355]],
    ['png', 'jpeg', [1024, 13_106]],
    ['webp', 'jpeg', [809, 10_355]],
    ['webp', 'webp', [572, 7321]],
  ] as const)('of %s adds at most 100 MB of memory in %s, and has %j pixels', async (of, format, expected) => {
    const wanted = { width: 1024, height: undefined, format, quality: 80 };
    const bounded = boundedThumbnail(wanted, { format: of, width: WIDTH, height });
    const render = () => measured(() => renderThumbnail(files[of] ?? new Uint8Array(), bounded));
    let [made, added] = await render();
    // Other work of this process only adds to it.
    for (let again = 0; again < 2 && added >= 100e6; again += 1) [made, added] = await render();
    const { width, height: rows } = await sharp(made).metadata();
    expect([width, rows]).toEqual(expected);
    expect(added / 1e6).toBeLessThan(100);
  });
});

describe('a comparison of large images', () => {
  it.runIf(process.platform === 'linux').each([
    ['draws nothing', false],
    ['draws them', true],
  ])('adds at most 100 MB of memory when it %s, and leaves no file', async (_, draws) => {
    const staging = await makeDirectory();
    const block = { left: 200, width: 300, height: 4000, background: '#e63' };
    const [a, b] = [await page(16_384, [{ ...block, top: 700 }]), await page(16_384, [{ ...block, top: 9000 }])];
    const thread = createComparisonThread(async () => staging);
    const [{ visual, drawing }, added] = await measured(() => thread.compare(comparing([a, b], { draws })));
    expect(visual?.regions.map(({ kind }) => kind)).toEqual(['edited', 'edited']);
    expect(added / 1e6).toBeLessThan(100);
    expect(await readdir(staging)).toEqual([]);
    await drawing?.close();
  });

  it.runIf(process.platform === 'linux')('adds at most 100 MB of memory for files and a drawing as large', async () => {
    const [files, staging] = [await makeDirectory(), await makeDirectory()];
    const images = await Promise.all([120, 140].map((mean) => noise(join(files, `${mean}.png`), mean)));
    const [a, b] = images;
    if (a === undefined || b === undefined) throw new Error('there are two');
    const thread = createComparisonThread(async () => staging);
    const [drawn, added] = await measured(async () => {
      const { drawing } = await thread.compare(comparing([a, b], { draws: true }));
      let bytes = 0;
      for await (const piece of drawing?.stream() ?? []) bytes += piece.length;
      return { bytes, expected: drawing?.bytes };
    });
    expect(a.bytes + b.bytes).toBeGreaterThan(30e6);
    expect(drawn.bytes).toBe(drawn.expected);
    expect(drawn.bytes).toBeGreaterThan(30e6);
    expect(added / 1e6).toBeLessThan(100);
    expect(await readdir(staging)).toEqual([]);
  });

  it('finds the same when their rows cannot be written to a file, and are kept in memory', async () => {
    const height = 3600;
    const moved = { left: 700, width: 300, height: 120, background: '#28c' };
    const advert = { left: 0, top: 0, width: 160, height };
    const before = [
      { ...advert, background: '#fc0' },
      { ...moved, top: 400 },
      { left: 300, top: 2000, width: 90, height: 40, background: '#060' },
    ];
    const after = [
      { ...advert, background: '#f0c' },
      { ...moved, top: 3000 },
      { left: 300, top: 2000, width: 90, height: 40, background: '#600' },
    ];
    const map = JSON.stringify({
      styles: [{ color: 'red' }],
      entries: [
        { parent: -1, tag: 'body', box: [0, 0, WIDTH, height], style: 0 },
        { parent: 0, tag: 'aside', box: [0, 0, 160, height], style: 0 },
      ],
      partial: false,
    });
    const ignore = { kinds: [], rectangles: [], texts: [], selectors: ['aside'] };
    const found = async (staging: string) =>
      createComparisonThread(async () => staging).compare(
        comparing([await page(height, before), await page(height, after)], {
          ...{ maps: [map, map], ignore, draws: true, places: true },
        }),
      );
    const directory = await makeDirectory();
    const [inFiles, inMemory] = [await found(directory), await found(join(directory, 'gone'))];
    expect({ ...inFiles, drawing: null }).toEqual({ ...inMemory, drawing: null });
    // Not by expect, whose report of two images takes minutes.
    const drawn = await Promise.all(
      [inFiles, inMemory].map(({ drawing }) => buffer(drawing?.stream() ?? Readable.from([]))),
    );
    expect(drawn[0]?.equals(drawn[1] ?? Buffer.alloc(0))).toBe(true);
    expect(inFiles.visual?.regions.length).toBeGreaterThan(0);
    expect(inFiles.visual?.regions.every(({ to, from }) => ((to ?? from)?.x ?? 0) >= 160)).toBe(true);
  });

  it('decodes its images in memory, and says so once, when it has no directory for files', async () => {
    const file = join(await makeDirectory(), 'file');
    await writeFile(file, '');
    const data = createDataDirectory(join(file, 'data'));
    const problems: string[] = [];
    const thread = createComparisonThread(() => data.use(async ({ staging }) => staging), {
      onProblem: (reason) => problems.push(reason),
    });
    for (const height of [100, 3600]) {
      const [a, b] = [await page(height, []), await page(height, [])];
      expect((await thread.compare(comparing([a, b]))).visual).toMatchObject({ regions: [], share: 0 });
    }
    expect(problems).toEqual([expect.stringContaining('ENOTDIR')]);
  });

  it.runIf(process.platform === 'linux').each([
    ['their files', 8e6],
    ['their drawing', 20e6],
  ])('draws the same, and says why once, when %s can be written only in part', async (_, most) => {
    const [files, staging] = [await makeDirectory(), await makeDirectory()];
    const [a, b] = await Promise.all([120, 140].map((mean) => noise(join(files, `${mean}.png`), mean, 3300)));
    if (a === undefined || b === undefined) throw new Error('there are two');
    const problems: string[] = [];
    const thread = createComparisonThread(async () => staging, { onProblem: (reason) => problems.push(reason) });
    const drawn = async () => {
      const { drawing } = await thread.compare(comparing([a, b], { draws: true }));
      return buffer(drawing?.stream() ?? Readable.from([]));
    };
    const whole = await drawn();
    expect(whole.length).toBeGreaterThan(20e6);
    limitFiles(most);
    try {
      expect((await drawn()).equals(whole)).toBe(true);
    } finally {
      limitFiles('unlimited');
    }
    expect(problems).toEqual([expect.stringContaining('EFBIG')]);
    expect(await readdir(staging)).toEqual([]);
  });

  it('leaves nothing of a file that cannot be written to its end', async () => {
    const staging = await makeDirectory();
    const whole = await page(3600, []);
    const decoding = decode(whole.subarray(0, whole.length / 2), join(staging, 'decoded.v'), () => {});
    await expect(decoding).rejects.toThrow();
    expect(await readdir(staging)).toEqual([]);
  });

  it.runIf(process.platform === 'linux')('has ended its thread, and left no file, when its time is over', async () => {
    const staging = await makeDirectory();
    const [small, image] = [await page(100, []), await page(16_384, [])];
    const map = JSON.stringify({ styles: [], entries: [], partial: false });
    const before = threads();
    const thread = createComparisonThread(async () => staging, { mapsTimeoutMs: 100 });
    await thread.compare(comparing([small, small.slice()]));
    expect(threads()).not.toEqual(before);
    const late = thread.compare(comparing([image, image.slice()], { maps: [map, map] }));
    await expect(late).rejects.toMatchObject({ code: 'comparison_too_large' });
    expect(threads().filter((id) => !before.includes(id))).toEqual([]);
    expect(await readdir(staging)).toEqual([]);
  });
});
