import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { buffer, text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CapstanError } from '../../src/capture/errors.ts';
import { createRetention } from '../../src/storage/captures/retention.ts';
import { takeLock } from '../../src/storage/documents/lock.ts';
import { gridfsBackend } from '../../src/storage/gridfs/backend.ts';
import { mongoDocuments } from '../../src/storage/mongo/document-store.ts';
import { firstIdAt } from '../../src/storage/records/ids.ts';
import { createStorage } from '../../src/storage/storage.ts';
import { describeWithRelayedMongo } from '../support/describe-with-mongo.ts';
import { emptyDatabase } from '../support/mongo.ts';
import { makeDirectory } from '../support/temporary-directory.ts';
import { expectWhole } from './expect-whole.ts';
import { type GridfsParts, type GridfsPartsOptions, openGridfsParts } from './gridfs-parts.ts';
import { around, HTML, IMAGE, keepPicture, openParts } from './parts.ts';
import { sweepOver } from './remote-store.contract.ts';
import { captureOf, EVIDENCE, resultOf } from './result-of.ts';

const ID = 300_000_000_000_000;

describeWithRelayedMongo('captures in GridFS', (server) => {
  let url: string;
  let directories: string[] = [];
  let opened: GridfsParts[] = [];

  beforeEach(async () => {
    url = `${server.url}captures`;
    directories = [await makeDirectory(), await makeDirectory()];
  });

  afterEach(async () => {
    for (const one of opened) await one.close();
    opened = [];
    await emptyDatabase(url);
  });

  /** Opens the parts of a process on one of two machines. */
  async function open(machine = 0, options: GridfsPartsOptions = {}): Promise<GridfsParts> {
    const parts = await openGridfsParts(directories[machine] ?? '', url, options);
    opened.push(parts);
    return parts;
  }

  async function close(parts: GridfsParts): Promise<void> {
    opened = opened.filter((one) => one !== parts);
    await parts.close();
  }

  /** Resolves with what is on the disk of a machine, except the marks of a running process. */
  async function leftOn(machine: number): Promise<readonly string[]> {
    const entries = await readdir(join(directories[machine] ?? '', 'data'), {
      recursive: true,
      withFileTypes: true,
    });
    const files = entries.filter((entry) => !entry.isDirectory() && !/^(store\.json|lock)$/.test(entry.name));
    return files.map(({ name }) => name);
  }

  const drained = (parts: GridfsParts) => expect.poll(() => parts.captureStore.pending).toBe(0);

  it('lets another process on another machine read a capture, and leaves nothing on the disk of the first', async () => {
    const [here, there] = [await open(0), await open(1)];
    const kept = await keepPicture(here.captureStore, ID);
    expect(kept).toMatchObject({ artifacts: { store: 'gridfs', kinds: ['image', 'html'] } });
    expect(await leftOn(0)).toEqual([]);
    for (const parts of [here, there]) await expectWhole(parts, ID);
    expect(await there.results.get(ID)).toEqual({ ...kept, evidence: EVIDENCE });
    expect(await there.artifacts.record(ID)).toEqual({ ...kept, evidence: EVIDENCE });
    await there.captureStore.remove([ID]);
    expect(await here.artifacts.open(ID, 'image')).toBeUndefined();
    expect(await here.results.get(ID)).toBeUndefined();
  });

  it('keeps the record and the image of the same process when two processes store one id at once', async () => {
    const [here, there] = [await open(0), await open(1)];
    const keep = ({ captureStore }: GridfsParts, title: string) =>
      captureStore.keep(captureOf(ID, { title }), { image: Buffer.from(title), html: HTML });
    const kept = await Promise.all([keep(here, 'here'), keep(there, 'there')]);
    const record = await here.results.get(ID);
    expect(kept.map(({ title }) => title)).toEqual([record?.title, record?.title]);
    const image = await here.artifacts.open(ID, 'image');
    expect(image && (await text(image.stream()))).toBe(record?.title);
    expect(await keep(there, 'later')).toMatchObject({ title: record?.title });
    expect([await leftOn(0), await leftOn(1)]).toEqual([[], []]);
    expect(await here.mongo.database.collection('artifacts.chunks').countDocuments()).toBe(1);
  });

  it('does not start a second process on a data directory until the first one ends', async () => {
    const start = () =>
      createStorage({ dataDir: join(directories[0] ?? '', 'data'), mongoUrl: url, artifacts: 'gridfs' });
    const first = await start();
    await expect(start()).rejects.toThrow(
      /^the data directory \/.*\/data is in use by another process: with --artifacts gridfs or s3, each process needs a --data-dir of its own$/,
    );
    await keepPicture(first.captureStore, ID);
    await first.close();
    const next = await start();
    expect(await next.results.get(ID)).toMatchObject({ id: ID });
    await next.close();
  });

  it('creates no collection when it stores and removes captures, because that can block the server', async () => {
    const here = await open(0);
    const collections = () => here.mongo.database.listCollections({}, { nameOnly: true }).toArray();
    const before = await collections();
    await keepPicture(here.captureStore, ID);
    await here.captureStore.keep(captureOf(ID + 1, { failed: true, evidence: null }), null);
    await here.captureStore.remove([ID]);
    expect(new Set((await collections()).map(({ name }) => name))).toEqual(new Set(before.map(({ name }) => name)));
  });

  it('keeps captures on disk while MongoDB is away, and has each of them once when it is back', async () => {
    const here = await open(0);
    await keepPicture(here.captureStore, ID);
    await server.stop();
    for (const at of [1, 2, 3]) await keepPicture(here.captureStore, ID + at);
    await here.captureStore.keep(captureOf(ID + 4, { failed: true }), null);
    expect(here.captureStore.pending).toBe(4);
    const pending = { code: 'artifact_pending', status: 503 };
    await expect(here.artifacts.open(ID + 1, 'image')).rejects.toMatchObject(pending);
    await expect(here.artifacts.info(ID + 1)).rejects.toMatchObject(pending);
    await expect(here.artifacts.open(ID, 'image')).rejects.toMatchObject({ code: 'database_unavailable' });
    const own = await here.artifacts.open(ID + 1, 'image', { undelivered: true });
    expect(own && (await buffer(own.stream()))).toEqual(IMAGE);
    await server.start();
    await drained(here);
    for (const at of [0, 1, 2, 3]) await expectWhole(here, ID + at);
    expect(await here.results.page({ by: 'all' }, 10)).toHaveLength(5);
    expect((await here.artifacts.list(10)).map(({ id }) => id)).toEqual([ID + 3, ID + 2, ID + 1, ID]);
    expect(await leftOn(0)).toEqual([]);
  });

  it('delivers the captures that an earlier process left on disk', async () => {
    const isAway = () => Promise.reject(new CapstanError('database_unavailable'));
    const first = await open(0, { change: ({ remote }) => ({ remote: around(remote, { put: isAway }) }) });
    await keepPicture(first.captureStore, ID);
    await expect(first.artifacts.open(ID, 'image')).rejects.toMatchObject({ code: 'artifact_pending' });
    expect(await first.results.get(ID)).toBeUndefined();
    await close(first);
    const next = await open(0);
    await drained(next);
    await expectWhole(next, ID);
    expect(await leftOn(0)).toEqual([]);
  });

  it('removes captures that wait on disk', async () => {
    const isAway = () => Promise.reject(new CapstanError('database_unavailable'));
    const here = await open(0, { change: ({ remote }) => ({ remote: around(remote, { put: isAway }) }) });
    await keepPicture(here.captureStore, ID);
    expect(await here.captureStore.remove([ID])).toMatchObject({ screenshots: 1, records: 1 });
    await drained(here);
    expect(await here.artifacts.open(ID, 'image')).toBeUndefined();
    expect(await leftOn(0)).toEqual([]);
  });

  it('removes the files of a capture whose record the database refuses', async () => {
    const refuse = () => Promise.reject(new CapstanError('internal'));
    const here = await open(0, { change: ({ results }) => ({ results: around(results, { insert: refuse }) }) });
    await expect(keepPicture(here.captureStore, ID)).rejects.toMatchObject({ code: 'internal' });
    expect(await here.artifacts.open(ID, 'image')).toBeUndefined();
    expect(await leftOn(0)).toEqual([]);
    expect(here.problems).toEqual([]);
  });

  describe('when a capture cannot be kept after another process has stored the same image', () => {
    const fail = () => Promise.reject(new CapstanError('internal'));

    it.each<readonly [string, NonNullable<GridfsPartsOptions['change']>]>([
      ['its note cannot be written', ({ outbox }) => ({ outbox: around(outbox, { add: fail }) })],
      ['the database refuses its record', ({ results }) => ({ results: around(results, { insert: fail }) })],
    ])('leaves the stored capture as it is: %s', async (_, change) => {
      const [here, there] = [await open(0, { change }), await open(1)];
      const stored = await keepPicture(there.captureStore, ID, { title: 'there' });
      await expect(keepPicture(here.captureStore, ID, { title: 'here' })).rejects.toMatchObject({ code: 'internal' });
      expect(await there.results.get(ID)).toMatchObject({ title: stored.title });
      await expectWhole(there, ID);
      expect(await leftOn(0)).toEqual([]);
      expect(here.problems).toEqual([]);
    });
  });

  it('asks the store for nothing when a capture cannot be noted', async () => {
    const asked: string[] = [];
    const ask = (what: string) => () => {
      asked.push(what);
      return Promise.reject(new CapstanError('artifacts_unavailable'));
    };
    const here = await open(0, {
      change: ({ remote, outbox }) => ({
        remote: around(remote, { put: ask('put'), info: ask('info'), remove: ask('remove') }),
        outbox: around(outbox, { add: () => Promise.reject(new CapstanError('storage_full')) }),
      }),
    });
    await expect(keepPicture(here.captureStore, ID)).rejects.toMatchObject({ code: 'storage_full' });
    expect(asked).toEqual([]);
  });

  it('removes the files of a capture whose upload failed after it was stored', async () => {
    const here = await open(0, {
      change: ({ remote }) => ({
        remote: around(remote, {
          put: async (...capture) => {
            await remote.put(...capture);
            throw new CapstanError('internal');
          },
        }),
      }),
    });
    await expect(keepPicture(here.captureStore, ID)).rejects.toMatchObject({ code: 'internal' });
    expect(await here.remote.has(ID)).toBe(false);
    expect(await leftOn(0)).toEqual([]);
  });

  it('reads captures that an earlier process stored in the data directory', async () => {
    const before = await openParts(directories[0] ?? '');
    await keepPicture(before.captureStore, ID);
    await before.close();
    const here = await open(0);
    await keepPicture(here.captureStore, ID + 1);
    for (const id of [ID, ID + 1]) {
      const image = await here.artifacts.open(id, 'image');
      expect(image && (await buffer(image.stream()))).toEqual(IMAGE);
    }
    expect((await here.artifacts.list(10)).map(({ id }) => id)).toEqual([ID + 1]);
  });

  it('runs retention in one process at a time, by a lock', async () => {
    const [here, there] = [await open(0), await open(1)];
    const now = Date.UTC(2026, 5, 15, 12);
    const idAt = (hours: number) => firstIdAt(new Date(now - hours * 3_600_000));
    for (const hours of [50, 40, 30, 1]) await keepPicture(here.captureStore, idAt(hours));
    await here.results.insert(resultOf(idAt(60), { failed: true, artifacts: null }));
    const lock = (parts: GridfsParts) => () =>
      takeLock(mongoDocuments(parts.mongo.database, parts.mongo.ask), 'retention');
    const retention = (parts: GridfsParts) =>
      createRetention({
        limits: { days: 1.5, ofLabels: new Map(), bytes: null },
        artifacts: parts.artifacts,
        results: parts.results,
        remove: (ids) => parts.captureStore.remove(ids),
        lock: lock(parts),
        clock: () => now,
      });
    const held = await lock(there)();
    const own = retention(here);
    await own.pass();
    expect(await here.artifacts.list(10)).toHaveLength(4);
    await held?.release();
    await own.pass();
    expect(own.counts).toMatchObject({ screenshots: 2, records: 3 });
    expect((await there.artifacts.list(10)).map(({ id }) => id)).toEqual([idAt(1), idAt(30)]);
    expect((await there.results.page({ by: 'all' }, 10)).map(({ id }) => id).toSorted()).toEqual([idAt(30), idAt(1)]);
  });

  describe('after a process was killed', () => {
    function start(args: readonly string[]) {
      const script = join(import.meta.dirname, 'killed-uploader.ts');
      const path = directories[0] ?? '';
      return spawn(process.execPath, ['--no-warnings', script, path, url, ...args], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
    }

    const STEPS = [
      ['written locally', false],
      ['noted', false],
      ['published locally', true],
      ['half uploaded', true],
      ['uploaded', true],
      ['shown', true],
      ['recorded', true],
      ['released', true],
      ['delivered', true],
    ] as const;

    it.each(STEPS)(
      'shows a capture whole or not at all when its process is killed after the step "%s"',
      async (step, isStored) => {
        const other = await open(1);
        await keepPicture(other.captureStore, ID);
        const child = start([step, String(ID + 1)]);
        const [, signal] = await once(child, 'exit');
        expect(signal).toBe('SIGKILL');

        const hasRecord = (await other.results.get(ID + 1)) !== undefined;
        const listed = (await other.artifacts.list(10)).map(({ id }) => id);
        if (hasRecord) await expectWhole(other, ID + 1);
        expect((await other.artifacts.open(ID + 1, 'image')) !== undefined).toBe(listed.includes(ID + 1));

        const after = await open(0);
        await drained(after);
        const expected = isStored ? [ID + 1, ID] : [ID];
        expect((await other.artifacts.list(10)).map(({ id }) => id)).toEqual(expected);
        expect((await other.results.page({ by: 'all' }, 10)).map(({ id }) => id)).toHaveLength(expected.length);
        for (const id of expected) for (const parts of [after, other]) await expectWhole(parts, id);
        expect(await leftOn(0)).toEqual([]);
        expect(after.problems).toEqual([]);

        const { database, ask } = other.mongo;
        await sweepOver(gridfsBackend(database, ask)).pass();
        expect(await database.collection('artifacts.chunks').countDocuments()).toBe(expected.length);
        const files = database.collection('artifacts.files');
        expect(await files.countDocuments({ filename: /^captures/ })).toBe(2 * expected.length);
        for (const id of expected) await expectWhole(other, id);
      },
    );

    it('keeps one record and one image of each capture that killed processes answered', async () => {
      const answered: number[] = [];
      for (const answers of [1, 7, 20]) {
        const child = start([]);
        const exit = once(child, 'exit');
        let left = answers;
        for await (const line of createInterface({ input: child.stdout })) {
          answered.push(Number(line));
          left -= 1;
          if (left === 0) child.kill('SIGKILL');
        }
        await exit;
      }
      expect(answered.length).toBeGreaterThanOrEqual(28);
      const after = await open(0);
      await drained(after);
      const other = await open(1);
      const records = (await other.results.page({ by: 'all' }, 1000)).map(({ id }) => id);
      const stored = (await other.artifacts.list(1000)).map(({ id }) => id);
      expect(stored).toEqual(records.toSorted((a, b) => b - a));
      expect(stored).toEqual(expect.arrayContaining(answered));
      for (const id of stored) await expectWhole(other, id);
      expect(await leftOn(0)).toEqual([]);
    });
  });
});
