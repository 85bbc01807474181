import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { MongoClient } from 'mongodb';
import { afterEach, expect, it } from 'vitest';
import { captureDirectory } from '../../src/storage/files/layout.ts';
import { keyOf } from '../../src/storage/remote/keys.ts';
import { createStorage, type Storage, type StorageOptions } from '../../src/storage/storage.ts';
import { HTML, IMAGE, keepPicture } from '../storage/parts.ts';
import { putCapture } from '../storage/put-capture.ts';
import { captureOf } from '../storage/result-of.ts';
import { describeWithRelayedMongo } from '../support/describe-with-mongo.ts';
import { startFaultProxy } from '../support/fault-proxy.ts';
import { clientOf, describeWithS3, s3Flags, s3Options, storeOf, sweepOf } from '../support/s3.ts';
import { capstan, ground } from './capstan-process.ts';

const ID = 300_000_000_000_000;
const COUNT = 5;
const IDS = Array.from({ length: COUNT }, (_, at) => ID + at);

describeWithS3('capstan db with captures in an object store', (server) => {
  let storages: Storage[] = [];

  afterEach(async () => {
    for (const storage of storages) await storage.close();
    storages = [];
  });

  async function open(options: StorageOptions): Promise<Storage> {
    const storage = await createStorage(options);
    storages.push(storage);
    return storage;
  }

  async function close(storage: Storage): Promise<void> {
    storages = storages.filter((one) => one !== storage);
    await storage.close();
  }

  async function withCaptures(path: string, bucket: string) {
    const client = await clientOf(server, bucket);
    const places = { dataDir: join(path, 'data'), dbPath: join(path, 'results.db') };
    const storage = await open({ ...places, ...s3Options(server, bucket) });
    for (const id of IDS) await keepPicture(storage.captureStore, id);
    await expect.poll(() => storage.captureStore.pending).toBe(0);
    const flags = ['--db-path', places.dbPath, ...s3Flags(server, bucket)];
    return { client, places, storage, flags };
  }

  async function expectImage({ artifacts }: Storage, id: number): Promise<void> {
    const image = await artifacts.open(id, 'image');
    expect(image && (await buffer(image.stream()))).toEqual(IMAGE);
  }

  const keysOf = async (client: Awaited<ReturnType<typeof clientOf>>, end: string) =>
    (await Array.fromAsync(client.list('captures/'))).flatMap(({ objects }) =>
      objects.map(({ key }) => key).filter((key) => key.endsWith(end)),
    );

  it('compares records with captures, and names what is missing, damaged or belongs to no capture', async () => {
    const place = await ground();
    const { client, storage, flags } = await withCaptures(place.path, 'check');
    const check = (...more: string[]) => capstan(['db', 'check', ...flags, ...more], place.options);
    expect(await check('--contents')).toMatchObject({
      code: 0,
      stdout: `compared ${COUNT} records with ${COUNT} captures in the object store\nno problems found\n`,
    });
    await storage.artifacts.remove([ID + 1]);
    await storage.results.delete([ID + 2]);
    const images = await keysOf(client, '.png');
    const imageOf = (id: number) => images.find((key) => key.includes(`${id}/`)) ?? '';
    await client.removeTogether([imageOf(ID + 3)]);
    const other = Buffer.from(IMAGE).fill(1, 0, 1);
    await client.send({ method: 'PUT', key: imageOf(ID + 4), body: other, payload: 'UNSIGNED-PAYLOAD' });
    const cut = keyOf(ID, 'capture');
    const { body: whole } = await client.send({ method: 'GET', key: cut });
    await client.send({ method: 'PUT', key: cut, body: whole.subarray(0, -10), payload: 'UNSIGNED-PAYLOAD' });
    const { code, stdout } = await check('--contents');
    expect(stdout).toBe(
      [
        `record ${ID + 1}: its artifacts are missing`,
        `capture ${ID + 2}: its record is missing`,
        `capture ${ID + 4}: its image is not what was stored (SHA-256)`,
        `capture ${ID}: its record cannot be read in the object store`,
        `capture ${ID + 3}: its image is incomplete in the object store`,
        `compared ${COUNT - 1} records with ${COUNT - 1} captures in the object store`,
        '5 problems\n',
      ].join('\n'),
    );
    expect(code).toBe(1);
    client.close();
  });

  it('finds a capture that the bucket does not list by its record, and counts it', async () => {
    const place = await ground();
    await using proxy = await startFaultProxy(() => server.endpoint);
    const { client, flags } = await withCaptures(place.path, 'unlisted');
    const object = new RegExp(`<Contents><Key>[^<]*${ID}/.*?</Contents>`, 'g');
    proxy.fault = (line) => (line.includes('list-type') ? (xml) => xml.replace(object, '') : undefined);
    const through = s3Flags({ ...server, endpoint: proxy.endpoint }, 'unlisted');
    const { code, stdout } = await capstan(['db', 'check', ...flags.slice(0, 2), ...through], place.options);
    expect([code, stdout]).toEqual([
      0,
      [
        'captures that have a record, and are not listed by the object store: 1',
        `compared ${COUNT} records with ${COUNT - 1} captures in the object store`,
        'no problems found\n',
      ].join('\n'),
    ]);
    client.close();
  });

  it('says how many records it does not compare, because their captures are in another store than it was told', async () => {
    const place = await ground();
    const { client, places, storage, flags } = await withCaptures(place.path, 'other-store');
    await close(storage);
    const inFiles = await open(places);
    await keepPicture(inFiles.captureStore, ID - 1);
    const id = await inFiles.artifacts.id();
    const inDirectory = ['--db-path', places.dbPath, '--data-dir', places.dataDir];
    expect(await capstan(['db', 'check', ...inDirectory], place.options)).toMatchObject({
      code: 0,
      stdout: `not compared: ${COUNT} records of captures in the object store; to compare them, set --artifacts s3\nno problems found\n`,
    });
    const { stdout } = await capstan(['db', 'check', ...flags], place.options);
    expect(stdout).toContain(`not compared: 1 records of captures in the data directory of the store ${id}; `);
    client.close();
  });

  it('rebuilds all records from the bucket alone', async () => {
    const place = await ground();
    const { client, storage, flags } = await withCaptures(place.path, 'rebuild');
    const records = await Promise.all(IDS.map((id) => storage.results.get(id)));
    await storage.results.delete(IDS);
    expect(await capstan(['db', 'rebuild', ...flags], place.options)).toMatchObject({
      code: 0,
      stdout: `${COUNT} records written\n`,
    });
    expect(await Promise.all(IDS.map((id) => storage.results.get(id)))).toEqual(records);
    client.close();
  });

  it('moves captures from files to the object store and back while the service runs, and continues a move', async () => {
    const place = await ground();
    const places = { dataDir: join(place.path, 'data'), dbPath: join(place.path, 'results.db') };
    const before = await open(places);
    for (const id of IDS) await keepPicture(before.captureStore, id);
    const records = await Promise.all(IDS.map((id) => before.results.get(id)));
    await close(before);
    await using proxy = await startFaultProxy(() => server.endpoint);
    const client = await clientOf(server, 'move');
    const service = await open({ ...places, ...s3Options(server, 'move') });
    const expectAll = async (storage: Storage, store: string) => {
      for (const [at, id] of IDS.entries()) {
        await expectImage(storage, id);
        const record = await storage.results.get(id);
        expect(record).toEqual({ ...records[at], artifacts: { ...records[at]?.artifacts, store } });
      }
    };
    // The third capture meets a store that is away.
    let images = 0;
    proxy.fault = (line) => {
      if (/^PUT .*image\.png$/.test(line)) images += 1;
      return images > 2 ? { status: 403, code: 'AccessDenied' } : undefined;
    };
    const db = ['--db-path', places.dbPath, '--data-dir', places.dataDir];
    const [, , ...s3] = s3Flags({ ...server, endpoint: proxy.endpoint }, 'move');
    const move = (to: string) => capstan(['db', 'move', '--to', to, ...db, ...s3], place.options);
    const first = await move('s3');
    expect([first.code, first.stderr]).toEqual([1, expect.stringContaining('AccessDenied')]);
    for (const id of IDS) await expectImage(service, id);
    images = Number.NEGATIVE_INFINITY;
    expect(await move('s3')).toMatchObject({
      code: 0,
      stdout: 'moved 3 captures from files to s3\n3 captures moved\n',
    });
    await expectAll(service, 's3');
    expect((await service.artifacts.list(10)).map(({ id }) => id)).toEqual(IDS.toReversed());
    await close(service);
    const inFiles = await open({ ...places, ...s3Options(server, 'move'), artifacts: 'files' });
    for (const id of IDS) await expectImage(inFiles, id);
    expect(await move('files')).toMatchObject({ code: 0, stdout: expect.stringContaining('5 captures from s3') });
    await expectAll(inFiles, await inFiles.artifacts.id());
    expect(await keysOf(client, 'capture')).toEqual([]);
    client.close();
  });

  it('end with the reason when the object store goes away, report nothing as lost, and go on when it is back', async () => {
    const place = await ground();
    await using proxy = await startFaultProxy(() => server.endpoint);
    const { client, places, storage, flags } = await withCaptures(place.path, 'away');
    const through = s3Flags({ ...server, endpoint: proxy.endpoint }, 'away');
    const db = ['--db-path', places.dbPath, '--data-dir', places.dataDir];
    const records = await Promise.all(IDS.map((id) => storage.results.get(id)));
    await close(storage);

    /** Runs a command. The store is away from when it has answered this request for the n-th time. */
    const awayAt = async (pattern: RegExp, n: number, command: readonly string[]) => {
      let left = n;
      proxy.fault = () => (left > 0 ? undefined : 'reset');
      proxy.answered = (line) => {
        // Answers to other requests under way are lost.
        if (left === 0) throw new Error('the store is away');
        if (pattern.test(line)) left -= 1;
      };
      const ended = await capstan(['db', ...command], place.options);
      expect(left).toBe(0);
      Object.assign(proxy, { fault: () => undefined, answered: () => undefined });
      expect([ended.code, ended.stderr]).toEqual([1, expect.stringContaining('The object store cannot be used')]);
      expect(ended.stdout).not.toMatch(/missing|damaged|incomplete|cannot be read|no problems/);
    };
    const readsCapture = /^GET .*\/capture$/;
    await awayAt(readsCapture, 2, ['check', '--contents', ...flags.slice(0, 2), ...through]);
    expect(await capstan(['db', 'check', '--contents', ...flags], place.options)).toMatchObject({ code: 0 });

    const inDatabase = await open({ ...places, ...s3Options(server, 'away') });
    await inDatabase.results.delete(IDS);
    await close(inDatabase);
    await awayAt(readsCapture, 3, ['rebuild', ...flags.slice(0, 2), ...through]);
    expect(await capstan(['db', 'rebuild', ...flags], place.options)).toMatchObject({ code: 0 });

    const [, , ...s3] = through;
    const move = (to: string) => ['move', '--to', to, ...db, ...s3];
    await awayAt(/^GET .*image\.png$/, 2, move('files'));
    await awayAt(/^POST .*delete/, 2, move('files'));
    expect(await capstan(['db', ...move('files')], place.options)).toMatchObject({ code: 0 });
    await awayAt(/^PUT .*image\.png$/, 2, move('s3'));
    await awayAt(/^PUT .*\/capture$/, 2, move('s3'));
    expect(await capstan(['db', ...move('s3')], place.options)).toMatchObject({ code: 0 });

    const after = await open({ ...places, ...s3Options(server, 'away') });
    for (const id of IDS) await expectImage(after, id);
    expect(await Promise.all(IDS.map((id) => after.results.get(id)))).toEqual(records);
    await sweepOf(client).pass();
    expect(await keysOf(client, '')).toHaveLength(2 * COUNT);
    client.close();
  }, 240_000);

  it('writes the record of a capture whose move was killed between its deletion and its writing', async () => {
    const place = await ground();
    const places = { dataDir: join(place.path, 'data'), dbPath: join(place.path, 'results.db') };
    const before = await open(places);
    for (const id of IDS) await keepPicture(before.captureStore, id);
    const record = await before.results.get(ID);
    const client = await clientOf(server, 'cut-short');
    const stored = await before.artifacts.record(ID);
    if (record === undefined || stored === undefined) throw new Error('it was kept');
    const artifacts = { kinds: ['image', 'html'], ...record.artifacts, store: 's3' } as const;
    await putCapture(storeOf(client), { ...stored, artifacts }, { image: IMAGE, html: HTML });
    await before.results.delete([ID]);
    await close(before);
    const s3 = s3Flags(server, 'cut-short');
    const db = ['--db-path', places.dbPath, '--data-dir', places.dataDir];
    expect(await capstan(['db', 'move', '--to', 's3', ...db, ...s3], place.options)).toMatchObject({ code: 0 });
    const after = await open({ ...places, ...s3Options(server, 'cut-short') });
    expect(await after.results.get(ID)).toEqual({ ...record, artifacts });
    client.close();
  });

  it('moves the other captures when the copy of a failed one is empty, and names it', async () => {
    const place = await ground();
    const places = { dataDir: join(place.path, 'data'), dbPath: join(place.path, 'results.db') };
    const before = await open(places);
    await before.captureStore.keep(captureOf(ID - 1, { failed: true }), null);
    for (const id of IDS) await keepPicture(before.captureStore, id);
    await close(before);
    await writeFile(join(captureDirectory(places.dataDir, ID - 1), 'record.json'), '');
    (await clientOf(server, 'emptied')).close();
    const [, , ...s3] = s3Flags(server, 'emptied');
    const db = ['--db-path', places.dbPath, '--data-dir', places.dataDir];
    expect(await capstan(['db', 'move', '--to', 's3', ...db, ...s3], place.options)).toMatchObject({
      code: 1,
      stdout: [
        `capture ${ID - 1}: its record cannot be read: incomplete or missing`,
        `moved ${COUNT} captures from files to s3`,
        `${COUNT} captures moved\n`,
      ].join('\n'),
    });
  });

  it('leaves a capture whose image is not what was stored where it is, so that the move does not hide the damage', async () => {
    const place = await ground();
    const { client, places, storage, flags } = await withCaptures(place.path, 'damaged-move');
    const [image = ''] = (await keysOf(client, '.png')).filter((key) => key.includes(`${ID}/`));
    const other = Buffer.from(IMAGE).fill(1, 0, 1);
    await client.send({ method: 'PUT', key: image, body: other, payload: 'UNSIGNED-PAYLOAD' });
    await close(storage);
    await close(await open(places));
    const move = ['db', 'move', '--to', 'files', '--data-dir', places.dataDir, ...flags];
    expect(await capstan(move, place.options)).toMatchObject({
      code: 1,
      stdout: [
        `capture ${ID}: a file cannot be read, or is not what was stored, so it stays`,
        `moved ${COUNT - 1} captures from s3 to files`,
        `${COUNT - 1} captures moved\n`,
      ].join('\n'),
    });
    const { stdout } = await capstan(['db', 'check', '--contents', ...flags], place.options);
    expect(stdout).toContain(`capture ${ID}: its image is not what was stored (SHA-256)`);
    client.close();
  });

  it('says which option a move needs', async () => {
    const place = await ground();
    const { code, stderr } = await capstan(['db', 'move', '--to', 's3', '--db-path', 'results.db'], place.options);
    expect([code, stderr]).toEqual([2, expect.stringContaining('needs --s3-bucket')]);
  });

  describeWithRelayedMongo('and GridFS', (mongo) => {
    it('moves captures from GridFS to the object store', async () => {
      const place = await ground();
      const places = { dataDir: join(place.path, 'data'), mongoUrl: `${mongo.url}move` };
      const before = await open({ ...places, artifacts: 'gridfs' });
      for (const id of IDS) await keepPicture(before.captureStore, id);
      await close(before);
      (await clientOf(server, 'from-gridfs')).close();
      const service = await open({ ...places, ...s3Options(server, 'from-gridfs') });
      await expectImage(service, ID);
      const [, , ...s3] = s3Flags(server, 'from-gridfs');
      const flags = ['--mongo-url', places.mongoUrl, '--data-dir', places.dataDir, ...s3];
      const moved = await capstan(['db', 'move', '--to', 's3', ...flags], place.options);
      expect(moved).toMatchObject({ code: 0, stdout: expect.stringContaining('moved 5 captures from gridfs to s3') });
      for (const id of IDS) {
        expect((await service.results.get(id))?.artifacts?.store).toBe('s3');
        await expectImage(service, id);
      }
      await using direct = await new MongoClient(places.mongoUrl).connect();
      const objects = direct.db().collection('artifacts.files');
      const left = { filename: /^captures/ };
      expect(await objects.countDocuments(left)).toBe(COUNT);
      // As if their readers had had time to finish.
      await objects.updateMany({}, { $set: { uploadDate: new Date(0) } });
      expect(await capstan(['db', 'move', '--to', 's3', ...flags], place.options)).toMatchObject({ code: 0 });
      expect(await objects.countDocuments(left)).toBe(0);
      expect(await direct.db().collection('artifacts.chunks').countDocuments()).toBe(0);
    });
  });
});
