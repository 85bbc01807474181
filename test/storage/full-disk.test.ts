import { execFileSync } from 'node:child_process';
import { watch } from 'node:fs';
import { readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import sharp from 'sharp';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createComparisonThread } from '../../src/imaging/comparison/comparison-thread.ts';
import { drawRegions } from '../../src/imaging/comparison/draw-regions.ts';
import { Rows } from '../../src/imaging/comparison/rows.ts';
import { backupFile } from '../../src/storage/sqlite/backup.ts';
import { openSqlite } from '../../src/storage/sqlite/open.ts';
import { createStorage } from '../../src/storage/storage.ts';
import { startFaultProxy } from '../support/fault-proxy.ts';
import { clientOf, describeWithS3, s3Options } from '../support/s3.ts';
import { makeDirectory } from '../support/temporary-directory.ts';
import { keepPicture, openParts } from './parts.ts';
import { captureOf, resultOf } from './result-of.ts';

const ID = 300_000_000_000_000;
const unable = await whyNoDisk();

/** Mounting a small file system requires root. */
async function whyNoDisk(): Promise<string | undefined> {
  const directory = await makeDirectory();
  try {
    mount(directory);
    execFileSync('umount', [directory], { stdio: 'ignore' });
    return undefined;
  } catch {
    return 'no file system can be mounted here';
  }
}

function mount(directory: string): void {
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=2m', 'capstan-test', directory], { stdio: 'ignore' });
}

describe.skipIf(unable !== undefined)(`a full disk${unable === undefined ? '' : ` (skipped: ${unable})`}`, () => {
  let disk: string;

  beforeEach(async () => {
    disk = await makeDirectory();
    mount(disk);
  });

  afterEach(() => {
    execFileSync('umount', [disk]);
  });

  it('keeps no file of a backup for which it has no room', async () => {
    const path = join(await makeDirectory(), 'results.db');
    const store = await openSqlite({ path });
    const many = Array.from({ length: 1000 }, (_, at) => resultOf(ID + at, { title: 'x'.repeat(4000) }));
    await Promise.all(many.map((result) => store.results.insert(result)));
    await store.close();
    await expect(backupFile(path, join(disk, 'copy.db'))).rejects.toThrow(/full/);
    expect(await readdir(disk)).toEqual([]);
  });

  const filler = () => join(disk, 'filler');
  const fill = async () => {
    for (let bytes = 2_000_000; bytes >= 1; bytes = Math.floor(bytes / 2)) {
      await writeFile(filler(), Buffer.alloc(bytes), { flag: 'a' }).catch(() => undefined);
    }
  };

  it('refuses captures with storage_full, leaves nothing of them, and accepts captures again when there is room', async () => {
    const { captureStore, artifacts, data, close } = await openParts(disk, { database: false });
    await keepPicture(captureStore, ID);
    await fill();
    await expect(keepPicture(captureStore, ID + 1)).rejects.toMatchObject({ code: 'storage_full' });
    expect((await artifacts.list(10)).map(({ id }) => id)).toEqual([ID]);
    expect(await readdir((await data.workspace()).staging)).toEqual([]);
    await rm(filler());
    await keepPicture(captureStore, ID + 1);
    expect((await artifacts.list(10)).map(({ id }) => id)).toEqual([ID + 1, ID]);
    await close();
  });

  describeWithS3('on which captures wait for an object store', (server) => {
    it('refuses captures with storage_full, and has all the others, and room, when the store is back', async () => {
      await using proxy = await startFaultProxy(() => server.endpoint);
      (await clientOf(server, 'full')).close();
      const places = { dataDir: join(disk, 'data'), dbPath: join(await makeDirectory(), 'results.db') };
      const options = s3Options({ ...server, endpoint: proxy.endpoint }, 'full');
      const { captureStore, artifacts, close } = await createStorage({ ...places, ...options });
      proxy.fault = () => ({ status: 503, code: 'SlowDown' });
      const kept: number[] = [];
      const refused: unknown[] = [];
      const keep = (id: number) =>
        captureStore.keep(captureOf(id), { image: Buffer.alloc(300_000, 'image'), html: '' });
      for (let id = ID; refused.length === 0; id += 1) {
        await keep(id).then(
          () => kept.push(id),
          (error) => refused.push(error),
        );
      }
      expect(refused).toMatchObject([{ code: 'storage_full' }]);
      expect(kept.length).toBeGreaterThan(2);
      proxy.fault = () => undefined;
      await expect.poll(() => captureStore.pending).toBe(0);
      await keep(ID + 100);
      await expect.poll(() => captureStore.pending).toBe(0);
      expect((await artifacts.list(10)).map(({ id }) => id)).toEqual([ID + 100, ...kept.toReversed()]);
      await close();
    });
  });

  it('refuses captures whose files fit only in part', async () => {
    const { captureStore, artifacts, data, close } = await openParts(disk, { database: false });
    await fill();
    await rm(filler());
    await writeFile(filler(), Buffer.alloc(1_980_000));
    const large = { image: Buffer.alloc(500_000), html: '<p>small</p>' };
    await expect(captureStore.keep(captureOf(ID), large)).rejects.toMatchObject({ code: 'storage_full' });
    expect(await artifacts.list(10)).toEqual([]);
    expect(await readdir((await data.workspace()).staging)).toEqual([]);
    await close();
  });

  it('makes comparisons decode large images in memory, and say so once', async () => {
    const written = new Set<string>();
    const watching = watch(disk, (_, name) => written.add(String(name)));
    const problems: string[] = [];
    const thread = createComparisonThread(async () => disk, { onProblem: (reason) => problems.push(reason) });
    const create = { width: 2100, height: 2100, channels: 3, background: 'white' } as const;
    const image = new Uint8Array(await sharp({ create }).png().toBuffer());
    for (let time = 0; time < 2; time += 1) {
      const { visual } = await thread.compare({
        images: [image.slice(), image.slice()],
        ...{ texts: null, links: null, maps: null, onlyElements: null },
        ignore: { kinds: [], rectangles: [], texts: [], selectors: [] },
        ...{ inAnyOrder: false, draws: false, places: false },
      });
      expect(visual?.regions).toEqual([]);
    }
    await writeFile(join(disk, 'last'), '');
    await vi.waitFor(() => expect(written).toContain('last'));
    watching.close();
    expect([...written]).toEqual(['last']);
    expect(problems).toEqual([expect.stringContaining('1 GiB')]);
  });

  it('makes comparisons draw large images in memory, and say why', async () => {
    const decoded = join(await makeDirectory(), 'decoded.v');
    await writeFile(decoded, Buffer.alloc(64 + 4 * 40 * 40, 0xff));
    const rows = new Rows(40, 40, decoded);
    const image = { rows, width: 40, height: 40, isExact: true };
    const problems: string[] = [];
    const drawn = await drawRegions(image, image, [], join(disk, 'drawing.png'), (reason) => problems.push(reason));
    rows.close();
    expect((await sharp(Buffer.from(drawn)).metadata()).width).toBe(40 + 16 + 40);
    expect(problems).toEqual([expect.stringContaining('1 GiB')]);
    expect(await readdir(disk)).toEqual([]);
  });

  it('reports the database as unavailable for writing, and recovers', async () => {
    const { results, close } = await openParts(disk);
    await results.insert(resultOf(ID));
    await fill();
    const written = await Promise.allSettled(
      Array.from({ length: 50 }, (_, at) => results.insert(resultOf(ID + 1 + at, { title: 'x'.repeat(20_000) }))),
    );
    const refused = written.filter(({ status }) => status === 'rejected');
    expect(refused.length).toBeGreaterThan(0);
    for (const one of refused) expect(one).toMatchObject({ reason: { code: 'database_unavailable' } });
    await rm(filler());
    await vi.waitFor(() => results.insert(resultOf(ID + 100)), 120_000);
    expect(results.state).toBe('up');
    expect(await results.get(ID)).toMatchObject(resultOf(ID));
    expect(await results.get(ID + 100)).toMatchObject(resultOf(ID + 100));
    await close();
  });
});
