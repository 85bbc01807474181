import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { buffer, text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createDataDirectory, type DataDirectory } from '../../src/storage/files/data-directory.ts';
import { createFileArtifactStore, type FileArtifactStore } from '../../src/storage/files/file-artifact-store.ts';
import { createIdSource, firstIdAt } from '../../src/storage/ids.ts';
import { HTML, IMAGE, temporaryDirectory } from './parts.ts';
import { resultOf } from './result-of.ts';

const ID = createIdSource({ clock: () => Date.UTC(2026, 10, 21, 9, 5, 59, 999), node: 3 }).next();
const DIRECTORY = join('captures', '20261121', '0905', String(ID));

describe('The artifact store', () => {
  let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
  let data: DataDirectory;
  let artifacts: FileArtifactStore;

  beforeEach(async () => {
    directory = await temporaryDirectory();
    data = createDataDirectory(join(directory.path, 'data'));
    artifacts = createFileArtifactStore(data);
  });

  afterEach(async () => {
    await data.close();
    await directory.remove();
  });

  it('puts a capture into a directory of its minute, under names that come from its id', async () => {
    const info = await artifacts.put(resultOf(ID, { title: '../../etc/passwd', format: 'jpeg' }), IMAGE, HTML);
    const files = (await readdir(join(data.path, DIRECTORY))).sort();
    expect(files).toEqual(['image.jpg', 'info.json', 'page.html']);
    expect(JSON.parse(await readFile(join(data.path, DIRECTORY, 'info.json'), 'utf8'))).toEqual(info);
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
      image: `/screenshot/${ID}`,
      html: `/screenshot/${ID}?view=html`,
    });
  });

  it('lets a capture appear whole: not before it is published, and never when it is discarded', async () => {
    const staged = await artifacts.stage(resultOf(ID), IMAGE, HTML);
    expect(await artifacts.info(ID)).toBeUndefined();
    expect(await artifacts.list(10)).toEqual([]);
    await staged.publish();
    expect(await artifacts.info(ID)).toEqual(staged.info);
    await staged.discard();
    expect(await artifacts.info(ID)).toBeUndefined();
    await (await artifacts.stage(resultOf(ID), IMAGE, HTML)).discard();
    const workspace = await data.workspace();
    expect(await readdir(workspace.staging)).toEqual([]);
  });

  it('knows nothing of an id that is not stored', async () => {
    expect(await artifacts.info(ID)).toBeUndefined();
    expect(await artifacts.open(ID, 'image')).toBeUndefined();
    expect(await artifacts.has(ID)).toBe(false);
  });

  it('opens the image and the HTML copy, whole or a part of it', async () => {
    await artifacts.put(resultOf(ID), IMAGE, HTML);
    const image = await artifacts.open(ID, 'image');
    expect(image?.bytes).toBe(IMAGE.length);
    expect(image && (await buffer(image.stream()))).toEqual(IMAGE);
    const part = await artifacts.open(ID, 'image');
    expect(part && (await text(part.stream({ start: 5, end: 9 })))).toBe('image');
    const html = await artifacts.open(ID, 'html');
    expect(html?.bytes).toBe(Buffer.byteLength(HTML));
    expect(html && (await text(html.stream()))).toBe(HTML);
  });

  it('can be closed where it is not read', async () => {
    await artifacts.put(resultOf(ID), IMAGE, HTML);
    const image = await artifacts.open(ID, 'image');
    await image?.close();
    await image?.close();
  });

  it('lists the newest first, in pages, over days and minutes, and leaves out what is not a capture', async () => {
    const times = [
      Date.UTC(2026, 0, 1, 0, 0),
      Date.UTC(2026, 0, 1, 23, 59),
      Date.UTC(2026, 0, 2, 0, 0),
      Date.UTC(2026, 0, 2, 0, 1),
      Date.UTC(2027, 0, 1, 12, 0),
    ];
    const ids = times.flatMap((time) => [0, 1, 2].map((at) => firstIdAt(new Date(time)) + at)).reverse();
    for (const id of ids) await artifacts.put(resultOf(id), IMAGE, HTML);
    await mkdir(join(data.path, 'captures', 'lost+found'));
    await writeFile(join(data.path, 'captures', '20260102', 'notes.txt'), 'mine');
    await mkdir(join(data.path, 'captures', '20260102', '0001', '999999999999999'));

    expect((await artifacts.list(1000)).map(({ id }) => id)).toEqual(ids);
    const paged: number[] = [];
    for (;;) {
      const page = await artifacts.list(4, paged.at(-1));
      paged.push(...page.map(({ id }) => id));
      if (page.length < 4) break;
    }
    expect(paged).toEqual(ids);
  });

  it('goes on when somebody empties the data directory', async () => {
    await artifacts.put(resultOf(ID), IMAGE, HTML);
    for (const name of await readdir(data.path)) await rm(join(data.path, name), { recursive: true });
    await artifacts.put(resultOf(ID + 1), IMAGE, HTML);
    expect((await artifacts.list(10)).map(({ id }) => id)).toEqual([ID + 1]);
  });

  it('keeps what is under way in other processes when it sweeps, and removes what dead ones left', async () => {
    const other = createDataDirectory(data.path);
    const staged = await createFileArtifactStore(other).stage(resultOf(ID), IMAGE, HTML);
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
