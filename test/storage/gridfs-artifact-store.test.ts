import { randomBytes } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { Binary } from 'mongodb';
import { afterEach, describe, expect, it } from 'vitest';
import { CapstanError } from '../../src/capture/errors.ts';
import { gridfsBackend } from '../../src/storage/gridfs/backend.ts';
import { type MongoDatabase, openMongo } from '../../src/storage/mongo/open.ts';
import { createRemoteStore } from '../../src/storage/remote/remote-store.ts';
import { describeWithSharedMongo } from '../support/describe-with-mongo.ts';
import { emptyDatabase } from '../support/mongo.ts';
import { HTML, IMAGE } from './parts.ts';
import { putCapture } from './put-capture.ts';
import { cutShort, describeRemoteStore, sweepOver } from './remote-store.contract.ts';
import { captureOf, resultOf } from './result-of.ts';

const ID = 300_000_000_000_000;
const MIB = 1024 * 1024;
const DAMAGED = { code: 'artifact_damaged' };
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

  describeRemoteStore(async () => {
    const { database, ask } = await open();
    return gridfsBackend(database, ask);
  });

  describe('over its collections', () => {
    async function openParts() {
      const mongo = await open();
      const backend = gridfsBackend(mongo.database, mongo.ask);
      const chunks = mongo.database.collection('artifacts.chunks');
      const files = mongo.database.collection('artifacts.files');
      return { mongo, backend, artifacts: createRemoteStore(backend), chunks, files };
    }

    it('does not open a file whose chunk is missing, and fails a stream of which one goes missing', async () => {
      const { artifacts, chunks } = await openParts();
      await putCapture(artifacts, resultOf(ID), { image: randomBytes(2_500_000), html: HTML });
      expect(await chunks.countDocuments()).toBe(3);
      const file = await artifacts.open(ID, 'image');
      await chunks.deleteOne({ n: 1 });
      await expect(file && buffer(file.stream())).rejects.toMatchObject(DAMAGED);
      await expect(artifacts.open(ID, 'image')).rejects.toMatchObject(DAMAGED);
    });

    it('fails a stream whose last chunk is too short', async () => {
      const { artifacts, chunks } = await openParts();
      await putCapture(artifacts, resultOf(ID), { image: randomBytes(2_500_000), html: HTML });
      const file = await artifacts.open(ID, 'image');
      await chunks.updateOne({ n: 2 }, { $set: { data: new Binary(IMAGE) } });
      await expect(file && buffer(file.stream())).rejects.toMatchObject(DAMAGED);
    });

    it('deletes what a file has in GridFS, also when its upload was cut short', async () => {
      const { artifacts, backend, chunks, files } = await openParts();
      for (const id of [ID, ID + 1, ID + 2]) await cutShort(backend, id);
      await putCapture(artifacts, resultOf(ID + 3), PICTURE);
      // A crash before its chunk was written.
      const gone = await files.findOne({ filename: { $regex: `/0*${ID + 2}/` } });
      await chunks.deleteMany({ files_id: gone?._id });
      expect(await sweepOver(backend).pass()).toBe(3);
      expect(await chunks.countDocuments()).toBe(1);
      expect(await files.countDocuments({ parts: { $exists: false } })).toBe(1);
    });

    it('leaves nothing of a file in GridFS whose upload was given up', async () => {
      const { mongo, chunks, files } = await openParts();
      const underWay: Promise<unknown>[] = [];
      const { putFile } = gridfsBackend(mongo.database, (work) => {
        underWay.push(work(AbortSignal.abort()));
        return Promise.reject(new CapstanError('database_unavailable'));
      });
      const file = putFile('captures/x', randomBytes(2_500_000), { type: 'image/png', sha256: '' });
      await expect(file).rejects.toMatchObject({ code: 'database_unavailable' });
      await Promise.allSettled(underWay);
      expect([await chunks.countDocuments(), await files.countDocuments()]).toEqual([0, 0]);
    });

    it('reads listings from an index, without documents, and a page of the asked size', async () => {
      const { mongo, artifacts, backend } = await openParts();
      for (const at of [0, 1, 2, 3]) await putCapture(artifacts, resultOf(ID + at), PICTURE);
      await mongo.database.command({ profile: 2 });
      expect(await Array.fromAsync(backend.list('captures/'))).toHaveLength(8);
      for await (const id of backend.newest(ID + 9, 1)) {
        expect(id).toBe(ID + 3);
        break;
      }
      await mongo.database.command({ profile: 0 });
      const profile = mongo.database.collection('system.profile');
      const reads = await profile.find({ 'command.aggregate': 'artifacts.files' }).sort({ ts: 1 }).toArray();
      await profile.drop();
      expect(reads.map(({ docsExamined }) => docsExamined)).toEqual([0, 0, 0]);
      expect(reads.map(({ nreturned }) => nreturned)).toEqual([8, 0, 3]);
    });

    it('rejects with internal an object that no document can hold, so that it is not retried', async () => {
      const { backend } = await openParts();
      await expect(backend.insert('x', Buffer.alloc(16 * MIB))).rejects.toMatchObject({ code: 'internal' });
    });

    it('rejects with database_unavailable after the connection is closed', async () => {
      const { artifacts, mongo } = await openParts();
      await mongo.close();
      const away = { code: 'database_unavailable' };
      await expect(artifacts.open(ID, 'image')).rejects.toMatchObject(away);
      await expect(artifacts.list(1)).rejects.toMatchObject(away);
      await expect(artifacts.put(captureOf(ID), PICTURE)).rejects.toMatchObject(away);
    });
  });
});
