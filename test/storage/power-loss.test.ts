import { copyFileSync, existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { beforeEach, describe, expect, it } from 'vitest';
import { makeDirectory } from '../support/temporary-directory.ts';
import { databaseFile, IMAGE, keepPicture, openParts } from './parts.ts';
import { captureOf, EVIDENCE } from './result-of.ts';
import { observeDisk } from './synced-disk.ts';

const FIRST = 300_000_000_000_000;
const FAILED = { failed: true, failed_code: 'capture_timeout' } as const;

describe('a power cut', () => {
  let directory: string;
  const original = () => join(directory, 'original');
  const cutAt = (cut: number) => join(directory, `cut-${cut}`);

  beforeEach(async () => {
    directory = await makeDirectory();
    await mkdir(original());
  });

  /** Stores captures, stored and failed in turn, and cuts the power after each answer. Returns the answered ids. */
  async function keepAndCut(): Promise<number[]> {
    using disk = observeDisk(original());
    const { captureStore, close } = await openParts(original());
    const answered: number[] = [];
    await Promise.all(
      Array.from({ length: 8 }, async (_, at) => {
        const id = FIRST + at;
        await (at % 4 === 3 ? captureStore.keep(captureOf(id, FAILED), null) : keepPicture(captureStore, id));
        disk.cutInto(cutAt(answered.length));
        // SQLite syncs its files itself.
        for (const suffix of ['', '-wal']) {
          const file = databaseFile(original()) + suffix;
          if (existsSync(file) && !existsSync(join(file, 'in-the-way'))) {
            copyFileSync(file, databaseFile(cutAt(answered.length)) + suffix);
          }
        }
        answered.push(id);
      }),
    );
    await close();
    return answered;
  }

  async function expectAnswered(answered: readonly number[]): Promise<void> {
    for (const cut of answered.keys()) {
      const { captureStore, results, artifacts, problems, close } = await openParts(cutAt(cut));
      await expect.poll(() => captureStore.pending).toBe(0);
      for (const id of answered.slice(0, cut + 1)) {
        const record = await results.get(id);
        expect(record).toMatchObject({ id, evidence: EVIDENCE });
        const image = await artifacts.open(id, 'image');
        if (record?.failed === true) expect(image).toBeUndefined();
        else expect(image && (await buffer(image.stream()))).toEqual(IMAGE);
      }
      expect(problems).toEqual([]);
      await close();
    }
  }

  it('loses no answered capture, and no failed one, while the database takes the records', async () => {
    await expectAnswered(await keepAndCut());
  });

  it('loses no answered capture, and no failed one, while their records wait for the database', async () => {
    await mkdir(join(databaseFile(original()), 'in-the-way'), { recursive: true });
    await expectAnswered(await keepAndCut());
  });

  it('loses the files of a capture that was not answered yet', async () => {
    using disk = observeDisk(original());
    const { captureStore, artifacts, close } = await openParts(original());
    const keeping = keepPicture(captureStore, FIRST);
    disk.cutInto(cutAt(0));
    await keeping;
    await close();
    expect(await artifacts.has(FIRST)).toBe(true);
    const cut = await openParts(cutAt(0));
    expect(await cut.artifacts.has(FIRST)).toBe(false);
    await cut.close();
  });
});
