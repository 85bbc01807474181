import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { MongoClient } from 'mongodb';
import sharp from 'sharp';
import { expect, it } from 'vitest';
import { createStorage, type Storage } from '../../src/storage/storage.ts';
import { keepPicture } from '../storage/parts.ts';
import { captureOf } from '../storage/result-of.ts';
import { describeWithRelayedMongo } from '../support/describe-with-mongo.ts';
import { capstan, ground } from './capstan-process.ts';

const ID = 300_000_000_000_000;
const COUNT = 5;

describeWithRelayedMongo('capstan db with captures in GridFS', (server) => {
  async function withCaptures(path: string, name: string) {
    const mongoUrl = `${server.url}${name}`;
    const storage = await createStorage({ dataDir: join(path, 'data'), mongoUrl, artifacts: 'gridfs' });
    for (let at = 0; at < COUNT; at += 1) await keepPicture(storage.captureStore, ID + at);
    return { storage, flags: ['--mongo-url', mongoUrl, '--artifacts', 'gridfs'] };
  }

  const recordsOf = ({ results }: Storage) =>
    Promise.all(Array.from({ length: COUNT }, (_, at) => results.get(ID + at)));

  it('compares records with captures, and names what is missing or incomplete', async () => {
    const place = await ground();
    const { storage, flags } = await withCaptures(place.path, 'check');
    const check = () => capstan(['db', 'check', ...flags], place.options);
    expect(await check()).toMatchObject({
      code: 0,
      stdout: `compared ${COUNT} records with ${COUNT} captures in GridFS\nno problems found\n`,
    });
    await storage.artifacts.remove([ID + 1]);
    await storage.results.delete([ID + 2]);
    await using client = await new MongoClient(server.url).connect();
    const database = client.db(`${new URL(server.url).pathname.slice(1)}check`);
    const chunks = database.collection('artifacts.chunks');
    const files = database.collection('artifacts.files');
    const image = await files.findOne({ filename: { $regex: `/0*${ID + 3}/.*image.png` } });
    await chunks.deleteMany({ files_id: image?._id });
    const { code, stdout } = await check();
    expect(stdout).toBe(
      [
        `record ${ID + 1}: its artifacts are missing`,
        `capture ${ID + 2}: its record is missing`,
        `capture ${ID + 3}: its image is incomplete in GridFS`,
        `compared ${COUNT - 1} records with ${COUNT - 1} captures in GridFS`,
        '3 problems\n',
      ].join('\n'),
    );
    expect(code).toBe(1);
    await storage.close();
  });

  it('counts the records that wait in the data directory', async () => {
    const place = await ground();
    const { storage, flags } = await withCaptures(place.path, 'waiting');
    await server.stop();
    await keepPicture(storage.captureStore, ID + COUNT);
    await storage.close();
    await server.start();
    expect((await capstan(['db', 'check', ...flags], place.options)).stdout).toContain(
      `records that wait in ${join(place.path, 'data')} for delivery: 1\nno problems found\n`,
    );
  });

  it('rebuilds the records of all captures', async () => {
    const place = await ground();
    const { storage, flags } = await withCaptures(place.path, 'rebuild');
    await storage.captureStore.mark(ID + 1, (marks) => ({ ...marks, labels: ['legal'], note: 'kept' }));
    const records = await recordsOf(storage);
    await storage.results.delete(records.map((record) => record?.id ?? 0));
    expect(await recordsOf(storage)).toEqual(Array(COUNT).fill(undefined));
    const rebuilt = await capstan(['db', 'rebuild', ...flags], place.options);
    expect(rebuilt).toMatchObject({ code: 0, stdout: `${COUNT} records written\n` });
    expect(await recordsOf(storage)).toEqual(records);
    await storage.close();
  });

  it('reads the URL of MongoDB from a file, as the service does', async () => {
    const place = await ground();
    const { storage, flags } = await withCaptures(place.path, 'url-file');
    const [, url = ''] = flags;
    await writeFile(join(place.path, 'url'), `${url}\n`, { mode: 0o600 });
    const check = ['db', 'check', '--mongo-url-file', 'url', '--artifacts', 'gridfs'];
    expect(await capstan(check, place.options)).toMatchObject({ code: 0, stderr: '' });
    await storage.close();
  });

  it('exports captures with their thumbnails', async () => {
    const place = await ground();
    const { storage, flags } = await withCaptures(place.path, 'export');
    const red = { create: { width: 64, height: 64, channels: 3, background: 'red' } } as const;
    const image = await sharp(red).png().toBuffer();
    await storage.captureStore.keep(captureOf(ID + COUNT), { image, html: '' });
    const exported = await capstan(['export', '--html', 'gallery', ...flags], place.options);
    // The others have images that cannot be decoded.
    expect(exported.stdout).toBe(`exported ${COUNT + 1} captures, 1 thumbnails, 1 pages to gallery\n`);
    await storage.close();
  });

  it('refuses to back up and restore, and names the tools that do', async () => {
    const place = await ground();
    const flags = ['--mongo-url', server.url, '--artifacts', 'gridfs'];
    const { stderr, code } = await capstan(['db', 'backup', 'copy.db', ...flags], place.options);
    expect(stderr).toContain('use mongodump for MongoDB, which copies the captures in GridFS with their records');
    expect(code).toBe(1);
    const restoring = await capstan(['db', 'restore', 'copy.db', ...flags], place.options);
    expect(restoring.stderr).toContain('use mongorestore for MongoDB');
  });
});
