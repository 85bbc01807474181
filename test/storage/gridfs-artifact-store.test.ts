import { randomBytes } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { Binary, type Collection, type Db } from 'mongodb';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { takeLock } from '../../src/storage/documents/lock.ts';
import { damagedFiles } from '../../src/storage/gridfs/damaged-files.ts';
import { createGridfsStore } from '../../src/storage/gridfs/gridfs-store.ts';
import { createSweep, type SweepOptions } from '../../src/storage/gridfs/sweep.ts';
import { mongoDocuments } from '../../src/storage/mongo/document-store.ts';
import { type MongoDatabase, openMongo } from '../../src/storage/mongo/open.ts';
import { type ArtifactStore, putCapture } from '../../src/storage/ports/artifact-store.ts';
import { describeWithSharedMongo } from '../support/describe-with-mongo.ts';
import { emptyDatabase } from '../support/mongo.ts';
import { describeArtifactStore } from './artifact-store.contract.ts';
import { HTML, IMAGE } from './parts.ts';
import { captureOf, resultOf } from './result-of.ts';

const ID = 300_000_000_000_000;
const PICTURE = { image: IMAGE, html: HTML };

describeWithSharedMongo('the artifact store in GridFS', (server) => {
  const url = () => `${server()}gridfs`;
  let opened: MongoDatabase[] = [];

  afterEach(async () => {
    for (const one of opened) await one.close();
    opened = [];
    await emptyDatabase(url());
  });

  async function open(): Promise<MongoDatabase> {
    const mongo = await openMongo({ url: url() });
    opened.push(mongo);
    return mongo;
  }

  async function openStore(): Promise<ArtifactStore> {
    const { database, ask } = await open();
    return createGridfsStore(database, ask);
  }

  describeArtifactStore(async () => ({ open: openStore, remove: () => Promise.resolve() }));

  describe('over its collections', () => {
    let database: Db;
    let mongo: MongoDatabase;
    let artifacts: ArtifactStore;

    beforeEach(async () => {
      mongo = await open();
      database = mongo.database;
      artifacts = createGridfsStore(database, mongo.ask);
    });

    const count = (name: string) => database.collection(name).countDocuments();
    const sweep = (options: Partial<SweepOptions> = {}) =>
      createSweep({ database, ask: mongo.ask, readingMs: 0, uploadMs: -60_000, ...options });

    it('reads every range of an image that has several chunks', async () => {
      const image = randomBytes(2_500_000);
      await putCapture(artifacts, resultOf(ID), { image, html: '' });
      expect(await count('artifacts.chunks')).toBe(3);
      const chunk = 1024 * 1024;
      const spans = [
        [0, 0],
        [0, chunk - 1],
        [chunk - 1, chunk],
        [chunk, 2 * chunk - 1],
        [5, image.length - 6],
        [image.length - 1, image.length - 1],
      ] as const;
      for (const [start, end] of spans) {
        const file = await artifacts.open(ID, 'image');
        expect(file && (await buffer(file.stream({ start, end })))).toEqual(image.subarray(start, end + 1));
      }
      const whole = await artifacts.open(ID, 'image');
      expect(whole && (await buffer(whole.stream()))).toEqual(image);
      const html = await artifacts.open(ID, 'html');
      expect(html && (await buffer(html.stream()))).toHaveLength(0);
    });

    it('does not open a file whose chunk is missing, and fails a stream of which one goes missing', async () => {
      await putCapture(artifacts, resultOf(ID), { image: randomBytes(2_500_000), html: HTML });
      const file = await artifacts.open(ID, 'image');
      await database.collection('artifacts.chunks').deleteOne({ n: 1 });
      await expect(file && buffer(file.stream())).rejects.toThrow('chunk 1');
      await expect(artifacts.open(ID, 'image')).rejects.toMatchObject({ code: 'artifact_damaged' });
      const damaged = await Array.fromAsync(damagedFiles(database, mongo.ask));
      expect(damaged).toEqual([{ id: ID, kind: 'image' }]);
    });

    it('fails a stream whose last chunk is too short', async () => {
      await putCapture(artifacts, resultOf(ID), { image: randomBytes(2_500_000), html: HTML });
      const file = await artifacts.open(ID, 'image');
      await database.collection('artifacts.chunks').updateOne({ n: 2 }, { $set: { data: new Binary(IMAGE) } });
      await expect(file && buffer(file.stream())).rejects.toThrow('chunk 2');
    });

    it('rejects with database_unavailable after the connection is closed', async () => {
      await mongo.close();
      const away = { code: 'database_unavailable' };
      await expect(artifacts.open(ID, 'image')).rejects.toMatchObject(away);
      await expect(artifacts.list(1)).rejects.toMatchObject(away);
      await expect(artifacts.stage(captureOf(ID), PICTURE)).rejects.toMatchObject(away);
      await expect(artifacts.probe()).rejects.toMatchObject(away);
    });

    it('leaves no file of a probe behind', async () => {
      await artifacts.probe();
      expect([await count('artifacts.files'), await count('artifacts.chunks')]).toEqual([0, 0]);
    });

    it('deletes the files of a removed capture after a grace period for its readers', async () => {
      await putCapture(artifacts, resultOf(ID), PICTURE);
      await putCapture(artifacts, resultOf(ID + 1), PICTURE);
      const file = await artifacts.open(ID, 'image');
      await artifacts.remove([ID]);
      expect(await sweep({ readingMs: 600_000 }).pass()).toBe(0);
      expect(file && (await buffer(file.stream()))).toEqual(IMAGE);
      expect(await sweep().pass()).toBe(2);
      expect([await count('artifacts.files'), await count('artifacts.removed')]).toEqual([2, 0]);
      const other = await artifacts.open(ID + 1, 'image');
      expect(other && (await buffer(other.stream()))).toEqual(IMAGE);
    });

    it('keeps the files of a capture whose removal was cut short', async () => {
      await putCapture(artifacts, resultOf(ID), PICTURE);
      for await (const { _id } of database.collection('artifacts.files').find({ filename: `${ID}/page.html` })) {
        await database.collection('artifacts.removed').insertOne({ _id, removed_at: new Date(0) });
      }
      expect(await sweep().pass()).toBe(0);
      expect(await Array.fromAsync(damagedFiles(database, mongo.ask))).toEqual([]);
      expect(await count('artifacts.removed')).toBe(1);
    });

    it('deletes files of uploads that were cut short, and looks at each file once', async () => {
      await putCapture(artifacts, resultOf(ID), PICTURE);
      await artifacts.stage(captureOf(ID + 1), PICTURE);
      const chunks: Collection = database.collection('artifacts.chunks');
      // A crash before the file's own entry was written.
      await artifacts.stage(captureOf(ID + 2), PICTURE);
      await database.collection('artifacts.files').deleteMany({ filename: { $regex: `^${ID + 2}/` } });
      expect(await sweep({ uploadMs: 600_000 }).pass()).toBe(0);
      expect(await chunks.countDocuments()).toBe(6);
      const all = sweep();
      expect(await all.pass()).toBe(4);
      expect([await count('artifacts.files'), await chunks.countDocuments()]).toEqual([2, 2]);
      expect(await all.pass()).toBe(0);
      expect(await Array.fromAsync(damagedFiles(database, mongo.ask))).toEqual([]);
    });

    it('refuses to publish a capture whose files a sweep has deleted', async () => {
      const late = await artifacts.stage(captureOf(ID), PICTURE);
      expect(await sweep().pass()).toBe(2);
      await expect(late.publish()).rejects.toMatchObject({ code: 'database_unavailable' });
      expect(await artifacts.has(ID)).toBe(false);
      expect(await artifacts.list(10)).toEqual([]);
      expect(await putCapture(artifacts, resultOf(ID), PICTURE)).toMatchObject({ id: ID });
    });

    it('runs the sweep in one process at a time', async () => {
      await artifacts.stage(captureOf(ID), PICTURE);
      const lock = await takeLock(
        mongoDocuments(database, (work) => work()),
        'artifacts.sweep',
      );
      expect(await sweep().pass()).toBe(0);
      await lock?.release();
      expect(await sweep().pass()).toBe(2);
      expect(await sweep().pass()).toBe(0);
    });
  });
});
