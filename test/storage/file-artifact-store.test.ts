import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { NO_MARKS } from '../../src/capture/finding/marks.ts';
import { createDataDirectory, type DataDirectory } from '../../src/storage/files/data-directory.ts';
import { createFileArtifactStore } from '../../src/storage/files/file-artifact-store.ts';
import { captureDirectory, RECORD_FILE, thumbnailsDirectory } from '../../src/storage/files/layout.ts';
import type { LocalStore } from '../../src/storage/ports/artifact-store.ts';
import { createIdSource, firstIdAt } from '../../src/storage/records/ids.ts';
import { makeDirectory } from '../support/temporary-directory.ts';
import { describeArtifactStore } from './artifact-store.contract.ts';
import { HTML, IMAGE } from './parts.ts';
import { putCapture } from './put-capture.ts';
import { captureOf, resultOf } from './result-of.ts';

const ID = createIdSource({ clock: () => Date.UTC(2026, 10, 21, 9, 5, 59, 999), node: 3 }).next();
const DIRECTORY = join('captures', '20261121', '0905', String(ID));

const PICTURE = { image: IMAGE, html: HTML };

describe('the artifact store in files', () => {
  describeArtifactStore(async () => {
    const place = await makeDirectory();
    const opened: DataDirectory[] = [];
    return {
      open: async () => {
        const directory = createDataDirectory(join(place, 'data'));
        opened.push(directory);
        return createFileArtifactStore(directory);
      },
      remove: async () => {
        for (const one of opened) await one.close();
      },
    };
  });

  let directory: string;
  let data: DataDirectory;
  let artifacts: LocalStore;

  beforeEach(async () => {
    directory = await makeDirectory();
    data = createDataDirectory(join(directory, 'data'));
    artifacts = createFileArtifactStore(data);
    await artifacts.id();
  });

  afterEach(async () => {
    vi.useRealTimers();
    await data.close();
  });

  it('shows a capture only as a whole: not before it is published, and never once it is discarded', async () => {
    const staged = await artifacts.stage(captureOf(ID), PICTURE);
    expect(await artifacts.info(ID)).toBeUndefined();
    expect(await artifacts.list(10)).toEqual([]);
    expect(await staged.publish()).toBe(true);
    expect(await artifacts.info(ID)).toEqual(staged.info);
    await staged.discard();
    expect(await artifacts.info(ID)).toBeUndefined();
    await (await artifacts.stage(captureOf(ID), PICTURE)).discard();
    expect(await artifacts.has(ID)).toBe(false);
  });

  it('keeps the directory of the current minute, which the next capture needs, until a later removal', async () => {
    const now = Date.UTC(2026, 10, 21, 9, 5);
    vi.useFakeTimers({ toFake: ['Date'], now });
    for (const minute of ['0905', '0906']) {
      const id = firstIdAt(new Date());
      await putCapture(artifacts, resultOf(id), PICTURE);
      await artifacts.remove([id]);
      expect(await readdir(join(data.path, 'captures', '20261121'))).toEqual([minute]);
      vi.setSystemTime(now + 60_000);
    }
  });

  it('puts a capture into the directory of its minute, under names derived from its id', async () => {
    const info = await putCapture(artifacts, resultOf(ID, { title: '../../etc/passwd', format: 'jpeg' }), PICTURE);
    const files = (await readdir(join(data.path, DIRECTORY))).sort();
    expect(files).toEqual(['image.jpg', 'page.html', 'record.json']);
    expect(JSON.parse(await readFile(join(data.path, DIRECTORY, 'record.json'), 'utf8'))).toMatchObject({
      image: { bytes: info.bytes, sha256: info.sha256 },
      record: { id: ID, format: 'jpeg' },
    });
    expect(info).toEqual({
      id: ID,
      url: 'https://example.com/',
      host: 'example.com',
      title: '../../etc/passwd',
      format: 'jpeg',
      width: 1280,
      height: 800,
      bytes: IMAGE.length,
      sha256: createHash('sha256').update(IMAGE).digest('hex'),
      captured_at: '2026-11-21T09:05:59.999Z',
    });
  });

  it('ignores files that are not captures', async () => {
    await putCapture(artifacts, resultOf(ID), PICTURE);
    await mkdir(join(data.path, 'captures', 'lost+found'));
    await writeFile(join(data.path, 'captures', '20261121', 'notes.txt'), 'mine');
    await mkdir(join(data.path, 'captures', '20261121', '0905', '999999999999999'));
    expect((await artifacts.list(1000)).map(({ id }) => id)).toEqual([ID]);
  });

  it('keeps the record of a failed capture beside the captures of its minute, durably and once', async () => {
    const failed = captureOf(ID + 1, { failed: true });
    await artifacts.measure();
    await artifacts.keepRecord(failed);
    await artifacts.keepRecord(captureOf(ID + 1, { failed: true, title: 'another' }));
    await putCapture(artifacts, resultOf(ID), PICTURE);
    expect((await readdir(join(data.path, DIRECTORY, '..'))).sort()).toEqual([`${ID}`, `${ID + 1}`]);
    expect(await artifacts.record(ID + 1)).toEqual(failed);
    expect(await artifacts.has(ID + 1)).toBe(false);
    expect(await artifacts.info(ID + 1)).toBeUndefined();
    expect((await artifacts.list(10)).map(({ id }) => id)).toEqual([ID]);
    expect(await Array.fromAsync(artifacts.oldest())).toEqual([ID, ID + 1]);

    const bytes = await artifacts.sizeOf(ID + 1);
    expect(bytes).toBeGreaterThan(100);
    const counted = artifacts.bytes;
    expect(await artifacts.measure()).toBe(counted);
    expect(await createFileArtifactStore(data).measure()).toBe(counted);
    expect(await artifacts.remove([ID + 1])).toEqual({ captures: 0, bytes });
    expect(await artifacts.record(ID + 1)).toBeUndefined();
    expect(artifacts.bytes).toBe(await artifacts.sizeOf(ID));
    await artifacts.remove([ID]);
    expect(await readdir(join(data.path, 'captures'))).toEqual([]);
  });

  it('copies the record of a failed capture, and treats a copy that a power cut has emptied as none', async () => {
    const failed = captureOf(ID, { failed: true });
    await artifacts.copyRecord(failed);
    expect(await artifacts.record(ID)).toEqual(failed);
    expect(await readdir((await data.workspace()).staging)).toEqual([]);
    await putCapture(artifacts, resultOf(ID + 1), PICTURE);
    await writeFile(join(data.path, DIRECTORY, 'record.json'), '');
    expect(await artifacts.record(ID)).toBeUndefined();
    expect(await artifacts.info(ID)).toBeUndefined();
    expect(await artifacts.open(ID, 'image')).toBeUndefined();
    expect((await artifacts.list(10)).map(({ id }) => id)).toEqual([ID + 1]);
    await artifacts.mark(ID, { ...NO_MARKS, note: 'dead' });
    await artifacts.remove([ID, ID + 1]);
    expect(await readdir(join(data.path, 'captures'))).toEqual([]);
  });

  it('says why a capture cannot be removed when its thumbnails cannot be removed either', async () => {
    await putCapture(artifacts, resultOf(ID), PICTURE);
    await mkdir(join(data.path, DIRECTORY, 'in-the-way'));
    await writeFile(thumbnailsDirectory(data.path), 'no directory');
    await expect(artifacts.remove([ID])).rejects.toThrow(/unlink .*in-the-way/);
  });

  it('rejects reading a damaged record that has files beside it', async () => {
    await putCapture(artifacts, resultOf(ID), PICTURE);
    for (const damaged of [
      '',
      '{"image":null}',
      '{"image":{"bytes":1,"sha256":""},"record":{"id":1}}',
      'null',
      '\0\0',
    ]) {
      await writeFile(join(data.path, DIRECTORY, 'record.json'), damaged);
      for (const read of [artifacts.record, artifacts.info, (id: number) => artifacts.open(id, 'image')])
        await expect(read(ID)).rejects.toMatchObject({ code: 'artifact_damaged' });
    }
  });

  it('lists the others beside captures whose record is damaged', async () => {
    for (const id of [ID, ID + 1, ID + 2, ID + 3]) await putCapture(artifacts, resultOf(id), PICTURE);
    for (const [at, damaged] of ['{', '', '{"image":null,"record":[]}'].entries()) {
      await writeFile(join(captureDirectory(data.path, ID + 1 + at), RECORD_FILE), damaged);
    }
    expect((await artifacts.list(2)).map(({ id }) => id)).toEqual([ID]);
  });

  it('refuses to write while its store.json is gone, and continues when it is back', async () => {
    await putCapture(artifacts, resultOf(ID), PICTURE);
    const mark = await readFile(join(data.path, 'store.json'));
    for (const name of await readdir(data.path)) await rm(join(data.path, name), { recursive: true });
    const refused = { code: 'storage_unavailable' };
    await expect(putCapture(artifacts, resultOf(ID + 1), PICTURE)).rejects.toMatchObject(refused);
    await expect(artifacts.probe()).rejects.toMatchObject(refused);
    expect(await readdir(data.path)).toEqual([]);
    await writeFile(join(data.path, 'store.json'), mark);
    await artifacts.probe();
    await putCapture(artifacts, resultOf(ID + 1), PICTURE);
    expect((await artifacts.list(10)).map(({ id }) => id)).toEqual([ID + 1]);
  });

  it('keeps the work in progress of other processes when it sweeps, and removes that of dead ones', async () => {
    const other = createDataDirectory(data.path);
    const staged = await createFileArtifactStore(other).stage(captureOf(ID), PICTURE);
    const dead = join(data.path, 'workspaces', `${process.pid}-dead`, 'staging', '17');
    await mkdir(dead, { recursive: true });
    await writeFile(join(dead, 'image.png'), 'half of a pic');

    await data.sweep(async () => {});
    const left = await readdir(join(data.path, 'workspaces'));
    expect(left).toHaveLength(2);
    expect(left).not.toContain(`${process.pid}-dead`);
    await staged.publish();
    expect(await artifacts.has(ID)).toBe(true);
    await other.close();
  });
});
