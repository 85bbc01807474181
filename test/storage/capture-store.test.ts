import { mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { CapstanError } from '../../src/capture/errors.ts';
import { CaptureStore } from '../../src/storage/captures/capture-store.ts';
import { createDataDirectory } from '../../src/storage/files/data-directory.ts';
import { createFileArtifactStore } from '../../src/storage/files/file-artifact-store.ts';
import { createFileOutbox } from '../../src/storage/files/file-outbox.ts';
import { captureDirectory } from '../../src/storage/files/layout.ts';
import { createOwnCopies } from '../../src/storage/files/own-copies.ts';
import type { ResultStore } from '../../src/storage/ports/result-store.ts';
import { openSqlite } from '../../src/storage/sqlite/open.ts';
import { makeDirectory } from '../support/temporary-directory.ts';
import { around, HTML, IMAGE, keepPicture, openParts } from './parts.ts';
import { captureOf, EVIDENCE, resultOf } from './result-of.ts';

const ID = 300_000_000_000_000;

describe('the capture store', () => {
  let directory: string;

  beforeEach(async () => {
    directory = await makeDirectory();
  });

  /** Removes the workspaces of running processes, as `rm -r` does. */
  const loseWorkspaces = async () => {
    const workspaces = join(directory, 'data', 'workspaces');
    for (const name of await readdir(workspaces)) await rm(join(workspaces, name), { recursive: true });
  };

  it('stores the artifacts and the record of a capture, and names the store in the record', async () => {
    const { captureStore, results, artifacts, outbox, close } = await openParts(directory);
    const kept = await keepPicture(captureStore, ID);
    expect(kept).toMatchObject({ artifacts: { store: await artifacts.id(), kinds: ['image', 'html'] } });
    expect(await results.get(ID)).toEqual({ ...kept, evidence: EVIDENCE });
    expect(kept).not.toHaveProperty('evidence');
    expect(await artifacts.info(ID)).toMatchObject({ id: ID, bytes: IMAGE.length });
    expect(await outbox.has(ID)).toBe(false);
    expect(captureStore.pending).toBe(0);
    await close();
  });

  it('returns the record of the capture that is stored when its id is stored again, at once or later', async () => {
    const { captureStore, results, artifacts, outbox, close } = await openParts(directory);
    const other = () => captureStore.keep(captureOf(ID, { title: 'other' }), { image: Buffer.from('other'), html: '' });
    const [first, meanwhile] = await Promise.all([keepPicture(captureStore, ID), other()]);
    expect(meanwhile).toEqual(first);
    expect(await other()).toEqual(first);
    expect(await results.get(ID)).toEqual({ ...first, evidence: EVIDENCE });
    expect(await artifacts.info(ID)).toMatchObject({ bytes: IMAGE.length });
    expect(await outbox.has(ID)).toBe(false);
    await close();
  });

  it('stores only the record of a failed capture', async () => {
    const { captureStore, results, artifacts, close } = await openParts(directory);
    const failed = { failed: true, failed_code: 'capture_timeout' } as const;
    expect(await captureStore.keep(captureOf(ID, failed), null)).toEqual(resultOf(ID, failed));
    expect(await results.get(ID)).toEqual(captureOf(ID, failed));
    expect(await artifacts.list(1)).toEqual([]);
    await close();
  });

  it('answers a failed capture when only its copy in the data directory cannot be written, and refuses others', async () => {
    const full = () => Promise.reject(new CapstanError('storage_full'));
    const { captureStore, results, close } = await openParts(directory, {
      change: ({ artifacts }) => ({ artifacts: around(artifacts, { copyRecord: full, probe: full }) }),
    });
    const failed = { failed: true, failed_code: 'capture_timeout' } as const;
    expect(await captureStore.keep(captureOf(ID, failed), null)).toEqual(resultOf(ID, failed));
    expect(await results.get(ID)).toEqual(captureOf(ID, failed));
    expect(captureStore.refusal).toMatchObject({ code: 'storage_full' });
    await close();
  });

  it('stores files without a database and without an outbox', async () => {
    const { captureStore, artifacts, data, close } = await openParts(directory, { database: false });
    expect(await keepPicture(captureStore, ID)).toMatchObject({ artifacts: { kinds: ['image', 'html'] } });
    await captureStore.keep(captureOf(ID + 1), null);
    expect((await artifacts.list(10)).map(({ id }) => id)).toEqual([ID]);
    expect(await readdir((await data.workspace()).outbox)).toEqual([]);
    await close();
  });

  it('leaves nothing of a capture whose record the database refuses', async () => {
    const refusing = (results: ResultStore) =>
      around(results, { insert: () => Promise.reject(new CapstanError('internal')) });
    const { captureStore, artifacts, data, close } = await openParts(directory, {
      change: ({ results }) => ({ results: refusing(results) }),
    });
    await expect(keepPicture(captureStore, ID)).rejects.toMatchObject({ code: 'internal' });
    expect(await artifacts.has(ID)).toBe(false);
    const { staging, outbox } = await data.workspace();
    expect([await readdir(staging), await readdir(outbox)]).toEqual([[], []]);
    await close();
  });

  it('keeps a capture whose workspace is removed while its record is written', async () => {
    const { captureStore, problems, close } = await openParts(directory, {
      change: ({ results }) => ({
        results: around(results, {
          insert: async (record) => {
            await results.insert(record);
            await loseWorkspaces();
          },
        }),
      }),
    });
    await keepPicture(captureStore, ID);
    await close();
    expect(problems).toMatchObject([
      { message: expect.stringMatching(/ was removed while it was in use. Outbox notes written again: 1$/) },
    ]);
    const again = await openParts(directory);
    await expect.poll(() => again.captureStore.isRemoved(ID)).toBe(false);
    expect(await again.results.get(ID)).toMatchObject({ id: ID });
    expect(await again.artifacts.has(ID)).toBe(true);
    await again.close();
  });

  describe('while the database is away', () => {
    /** A file in place of the database's directory: nothing can be opened there until it is removed. */
    const inTheWay = () => join(directory, 'way');

    beforeEach(() => writeFile(inTheWay(), ''));

    async function open(maxOutbox = 10) {
      const data = createDataDirectory(join(directory, 'data'));
      const database = await openSqlite({ path: join(inTheWay(), 'results.db') });
      const { results } = database;
      const artifacts = createFileArtifactStore(data);
      const inserted: number[] = [];
      const problems: unknown[] = [];
      const noting = around(results, {
        insert: async (record) => {
          await results.insert(record);
          inserted.push(record.id);
        },
      });
      const captureStore = new CaptureStore({
        artifacts,
        copies: createOwnCopies(artifacts, { keepsFailed: true }),
        results: noting,
        outbox: createFileOutbox(data, (problem) => problems.push(problem)),
        maxOutbox,
      });
      await captureStore.start();
      const close = async () => {
        await captureStore.close();
        await database.close();
        await data.close();
      };
      return { data, results, artifacts, captureStore, inserted, problems, close };
    }

    const isDrained = (captureStore: CaptureStore) => expect.poll(() => captureStore.pending).toBe(0);

    it('keeps storing captures, and writes their records in order, once each, when the database is back', async () => {
      const { captureStore, results, artifacts, data, inserted, close } = await open();
      for (const at of [0, 1, 2]) await keepPicture(captureStore, ID + at);
      await captureStore.keep(captureOf(ID + 3, { evidence: null }), null);
      expect(captureStore.pending).toBe(4);
      expect(await artifacts.list(10)).toHaveLength(3);
      const { outbox } = await data.workspace();
      expect((await readdir(outbox)).sort()).toEqual([0, 1, 2, 3].map((at) => `${ID + at}.waiting`));
      expect(await artifacts.record(ID)).toMatchObject({ id: ID, artifacts: { kinds: ['image', 'html'] } });
      expect(await artifacts.record(ID + 3)).toEqual(captureOf(ID + 3, { evidence: null }));

      await rm(inTheWay());
      await isDrained(captureStore);
      expect(inserted).toEqual([ID, ID + 1, ID + 2, ID + 3]);
      const records = await results.page({ by: 'all' }, 10);
      expect(records).toHaveLength(4);
      for (const record of records) {
        expect(record).not.toHaveProperty('evidence');
        const evidence = record.id === ID + 3 ? null : EVIDENCE;
        expect(await results.get(record.id)).toEqual({ ...record, evidence });
      }
      expect(await readdir(outbox)).toEqual([]);
      await keepPicture(captureStore, ID + 4);
      expect(await results.get(ID + 4)).toMatchObject({ id: ID + 4 });
      await close();
    });

    it('keeps a waiting capture as it is when its id is stored again', async () => {
      const { captureStore, results, close } = await open();
      const first = await keepPicture(captureStore, ID);
      const files = { image: Buffer.from('other'), html: '' };
      expect(await captureStore.keep(captureOf(ID, { title: 'other' }), files)).toMatchObject({ title: first.title });
      expect(captureStore.pending).toBe(1);
      await rm(inTheWay());
      await isDrained(captureStore);
      expect(await results.get(ID)).toMatchObject({ title: first.title });
      await close();
    });

    it('writes the records that waited in a removed workspace', async () => {
      const { captureStore, results, inserted, problems, close } = await open();
      for (const at of [0, 1, 2]) await keepPicture(captureStore, ID + at);
      await loseWorkspaces();
      await rm(inTheWay());
      await isDrained(captureStore);
      expect(inserted).toEqual([ID, ID + 1, ID + 2]);
      for (const id of inserted) expect(await results.get(id)).toMatchObject({ id });
      expect(problems).toMatchObject([{ message: expect.stringContaining('Outbox notes written again: 3') }]);
      await close();
    });

    it('leaves the records that waited in a removed workspace to the next process', async () => {
      const first = await open();
      for (const at of [0, 1]) await keepPicture(first.captureStore, ID + at);
      await loseWorkspaces();
      await expect.poll(() => first.problems).toHaveLength(1);
      expect(first.captureStore.pending).toBe(2);
      await first.close();

      const second = await open();
      expect(second.captureStore.pending).toBe(2);
      await rm(inTheWay());
      await isDrained(second.captureStore);
      expect(second.inserted).toEqual([ID, ID + 1]);
      await second.close();
    });

    it('keeps records waiting while the whole data directory is away', async () => {
      const { data, captureStore, results, problems, close } = await open();
      await keepPicture(captureStore, ID);
      await rename(data.path, `${data.path}-unmounted`);
      await mkdir(data.path);
      await rm(inTheWay());
      await expect.poll(() => problems).toHaveLength(1);
      expect(captureStore.pending).toBe(1);
      await rm(data.path, { recursive: true });
      await rename(`${data.path}-unmounted`, data.path);
      await isDrained(captureStore);
      expect(await results.get(ID)).toMatchObject({ id: ID });
      await close();
    });

    it('does not write the note of a removed workspace again when it is withdrawn', async () => {
      const { data, close } = await open();
      const outbox = createFileOutbox(data);
      for (const at of [0, 1]) await outbox.add(ID + at);
      await loseWorkspaces();
      expect(await outbox.waiting([ID, ID + 2])).toEqual(new Set([ID]));
      expect(await outbox.withdraw([ID])).toEqual(new Set([ID]));
      expect(await outbox.has(ID)).toBe(false);
      expect(await outbox.remove(ID)).toBe(false);
      expect(await outbox.has(ID + 1)).toBe(true);
      expect(await readdir((await data.workspace()).outbox)).toEqual([`${ID + 1}.waiting`]);
      await close();
    });

    it('sets an unreadable record aside, and writes the others', async () => {
      const { captureStore, results, data, close } = await open();
      for (const at of [0, 1]) await keepPicture(captureStore, ID + at);
      const { outbox } = await data.workspace();
      await writeFile(join(captureDirectory(data.path, ID), 'record.json'), '{"id": 30000');
      await rm(inTheWay());
      await isDrained(captureStore);
      expect(await results.page({ by: 'all' }, 10)).toMatchObject([{ id: ID + 1 }]);
      expect(await readdir(outbox)).toEqual([`${ID}.refused`]);
      await close();
    });

    it('refuses captures when the outbox is full, and leaves nothing of them', async () => {
      const { captureStore, artifacts, close } = await open(3);
      const kept = await Promise.allSettled([0, 1, 2, 3, 4].map((at) => keepPicture(captureStore, ID + at)));
      expect(kept.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'fulfilled', 'rejected', 'rejected']);
      await expect(keepPicture(captureStore, ID + 5)).rejects.toMatchObject({ code: 'database_unavailable' });
      expect(captureStore.pending).toBe(3);
      expect((await artifacts.list(10)).map(({ id }) => id)).toEqual([ID + 2, ID + 1, ID]);
      await close();
    });

    it('limits an API key to its share of the outbox, so that others have places', async () => {
      const { captureStore, close } = await open(8);
      const statuses: string[] = [];
      for (let at = 0; at < 6; at += 1) {
        const [kept] = await Promise.allSettled([keepPicture(captureStore, ID + at, { api_key_name: 'flood' })]);
        statuses.push(kept.status);
        if (kept.status === 'rejected') expect(kept.reason).toMatchObject({ code: 'database_unavailable' });
      }
      expect(statuses.filter((status) => status === 'fulfilled')).toHaveLength(4);
      expect(captureStore.refusal).toBeUndefined();
      await keepPicture(captureStore, ID + 10, { api_key_name: 'shop' });
      await keepPicture(captureStore, ID + 11);
      expect(captureStore.pending).toBe(6);
      await close();
    });

    it('leaves the records to the next process when this one stops', async () => {
      const first = await open();
      await keepPicture(first.captureStore, ID);
      await first.close();

      const second = await open();
      expect(second.captureStore.pending).toBe(1);
      await rm(inTheWay());
      await isDrained(second.captureStore);
      expect(await second.results.get(ID)).toMatchObject({ id: ID, artifacts: { kinds: ['image', 'html'] } });
      await second.close();
      expect(await readdir(join(directory, 'data', 'workspaces'))).toEqual([]);
    });

    it('does not take the records of a running process', async () => {
      const first = await open();
      await keepPicture(first.captureStore, ID);
      const second = await open();
      expect(second.captureStore.pending).toBe(0);
      await second.close();
      expect(first.captureStore.pending).toBe(1);
      await first.close();
    });

    it('drops a record whose files never appeared, because its capture was never answered', async () => {
      const first = await open();
      await keepPicture(first.captureStore, ID);
      await first.close();
      await rm(join(directory, 'data', 'captures'), { recursive: true });

      await rm(inTheWay());
      const second = await open();
      expect(second.captureStore.pending).toBe(0);
      expect(await second.results.get(ID)).toBeUndefined();
      await second.close();
    });
  });

  it('stores an image of many megabytes with its HTML snapshot', async () => {
    const { captureStore, artifacts, close } = await openParts(directory);
    const image = Buffer.alloc(20_000_000, 7);
    await captureStore.keep(captureOf(ID), { image, html: HTML.repeat(100_000) });
    expect(await artifacts.info(ID)).toMatchObject({ bytes: 20_000_000 });
    await close();
  });
});
