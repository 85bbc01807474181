import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { buffer } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Marks } from '../../src/capture/finding/marks.ts';
import { captureDirectory } from '../../src/storage/files/layout.ts';
import { firstIdAt } from '../../src/storage/records/ids.ts';
import { keyOf } from '../../src/storage/remote/keys.ts';
import { s3Backend } from '../../src/storage/s3/backend.ts';
import type { S3Client } from '../../src/storage/s3/client.ts';
import { createStorage, type Storage, type StorageOptions } from '../../src/storage/storage.ts';
import { type Fault, type FaultProxy, startFaultProxy } from '../support/fault-proxy.ts';
import { clientOf, describeWithS3, s3Options, storeOf, sweepOf } from '../support/s3.ts';
import { makeDirectory } from '../support/temporary-directory.ts';
import { expectWhole } from './expect-whole.ts';
import { HTML, IMAGE, keepPicture } from './parts.ts';
import { putCapture } from './put-capture.ts';
import { cutShort } from './remote-store.contract.ts';
import { captureOf, resultOf } from './result-of.ts';

const ID = 300_000_000_000_000;
const MARKS: Marks = { labels: ['legal'], note: 'x'.repeat(500), hold: null };
const PENDING = { code: 'artifact_pending', status: 503 };
const DOWN: Fault = { status: 503, code: 'SlowDown' };

describeWithS3(
  'captures in an object store',
  (server) => {
    let proxy: FaultProxy;
    let client: S3Client;
    let bucket = '';
    let directory = '';
    let opened: Storage[] = [];
    let problems: unknown[] = [];
    let buckets = 0;

    beforeEach(async () => {
      buckets += 1;
      bucket = `captures-${buckets}`;
      proxy = await startFaultProxy(() => server.endpoint);
      client = await clientOf({ ...server, endpoint: proxy.endpoint }, bucket);
      directory = await makeDirectory();
      problems = [];
    });

    afterEach(async () => {
      proxy.fault = () => undefined;
      proxy.answered = () => {};
      for (const one of opened) await one.close();
      opened = [];
      client.close();
      await proxy[Symbol.asyncDispose]();
    });

    const places = () => ({
      dataDir: join(directory, 'data'),
      dbPath: join(directory, 'results.db'),
      ...s3Options({ ...server, endpoint: proxy.endpoint }, bucket),
    });

    async function open(options: Partial<StorageOptions> = {}): Promise<Storage> {
      const storage = await createStorage({ ...places(), onProblem: (one) => problems.push(one), ...options });
      opened.push(storage);
      return storage;
    }

    async function close(storage: Storage): Promise<void> {
      opened = opened.filter((one) => one !== storage);
      await storage.close();
    }

    const delivered = (storage: Storage) => expect.poll(() => storage.captureStore.pending).toBe(0);
    const keys = async () =>
      (await Array.fromAsync(client.list('captures/'))).flatMap(({ objects }) => objects.map(({ key }) => key));

    /** Resolves with what is in the data directory, except the marks of a running process. */
    async function leftOnDisk(): Promise<readonly string[]> {
      const entries = await readdir(join(directory, 'data'), { recursive: true, withFileTypes: true });
      const files = entries.filter((entry) => !entry.isDirectory() && !/^(store\.json|.*lock)$/.test(entry.name));
      return files.map(({ name }) => name);
    }

    /** Lets a fault happen once to requests that match. */
    function faultOnce(pattern: RegExp, fault: Fault): void {
      let left = 1;
      proxy.fault = (line) => {
        if (left === 0 || !pattern.test(line)) return undefined;
        left -= 1;
        return fault;
      };
    }

    const FAULTS: readonly (readonly [string, Fault])[] = [
      ['500', { status: 500, code: 'InternalError' }],
      ['503 SlowDown', DOWN],
      ['a broken connection', 'reset'],
      ['no answer', 'silence'],
      ['a lost answer', 'answer lost'],
    ];

    describe.each(FAULTS)('after %s', (_, fault) => {
      beforeEach(async () => {
        if (fault !== 'silence') return;
        client.close();
        client = await clientOf({ ...server, endpoint: proxy.endpoint }, bucket, { silenceMs: 5000 });
      });

      it.each([
        ['image', /^PUT .*image\.png/],
        ['capture', /^PUT .*\/capture$/],
      ])('stores a capture once when that happens to its %s', async (_, pattern) => {
        faultOnce(pattern, fault);
        const artifacts = storeOf(client);
        expect(await artifacts.put(captureOf(ID), { image: IMAGE, html: HTML })).toBe(true);
        expect(await keys()).toHaveLength(2);
        expect(await artifacts.record(ID)).toEqual(captureOf(ID));
      });

      it('reads a whole image when that happens to the request for it', async () => {
        const artifacts = storeOf(client);
        await putCapture(artifacts, resultOf(ID), { image: IMAGE, html: HTML });
        faultOnce(/^GET .*image\.png/, fault);
        const image = await artifacts.open(ID, 'image');
        expect(image && (await buffer(image.stream()))).toEqual(IMAGE);
      });
    });

    it('reads an image again when the connection breaks in its middle', async () => {
      const artifacts = storeOf(client);
      await putCapture(artifacts, resultOf(ID), { image: IMAGE, html: HTML });
      faultOnce(/^GET .*image\.png/, 'reset in the body');
      const image = await artifacts.open(ID, 'image');
      expect(image && (await buffer(image.stream({ start: 1, end: IMAGE.length - 2 })))).toEqual(IMAGE.subarray(1, -1));
      expect(proxy.seen.filter((line) => /^GET .*image\.png/.test(line))).toHaveLength(2);
    });

    it('keeps the image of a capture that a listing does not show yet', async () => {
      const artifacts = storeOf(client);
      await putCapture(artifacts, resultOf(ID), { image: IMAGE, html: HTML });
      proxy.fault = (line) =>
        line.startsWith(`GET /${bucket}?`)
          ? (xml) => xml.replace(/<Contents><Key>[^<]*\/capture<.*?<\/Contents>/g, '')
          : undefined;
      await sweepOf(client).pass();
      proxy.fault = () => undefined;
      expect(await keys()).toHaveLength(2);
    });

    it('breaks off an image whose answer is too short', async () => {
      const artifacts = storeOf(client);
      await putCapture(artifacts, resultOf(ID), { image: IMAGE, html: HTML });
      const image = await artifacts.open(ID, 'image');
      proxy.fault = (line) => (/^GET .*image\.png/.test(line) ? (body) => body.slice(0, 1) : undefined);
      await expect(image && buffer(image.stream())).rejects.toMatchObject({ code: 'artifact_damaged' });
    });

    it('deletes images of removed captures whose notes are behind notes that are not due', async () => {
      client.close();
      client = await clientOf({ ...server, endpoint: proxy.endpoint }, bucket, { listedTogether: 1 });
      const artifacts = storeOf(client);
      for (const id of [ID, ID + 1]) {
        await putCapture(artifacts, resultOf(id), { image: IMAGE, html: HTML });
        await artifacts.remove([id]);
      }
      let pages = 0;
      proxy.fault = (line) => {
        if (!line.includes('prefix=removed')) return undefined;
        pages += 1;
        return pages === 1 ? (xml) => xml.replace(/<LastModified>[^<]*/, '<LastModified>2999-01-01') : undefined;
      };
      expect(await sweepOf(client, { uploadMs: 600_000 }).pass()).toBe(1);
      expect(await keys()).toHaveLength(1);
    });

    it('stops to compare images once another process has the lock of the sweep', async () => {
      client.close();
      client = await clientOf({ ...server, endpoint: proxy.endpoint }, bucket, { listedTogether: 1 });
      for (const at of [0, 1, 2]) await cutShort(s3Backend(client), ID + at);
      let isHeld = true;
      proxy.answered = (line) => {
        if (line.startsWith('PUT') && line.includes('/removed/')) isHeld = false;
      };
      const lock = async () => ({
        get isHeld() {
          return isHeld;
        },
        release: () => undefined,
      });
      await sweepOf(client, { lock }).pass();
      expect(isHeld).toBe(false);
      // The first image is noted once the second page has shown that no capture is beside it.
      expect(proxy.seen.filter((line) => line.includes('prefix=captures'))).toHaveLength(2);
    });

    it('answers before the upload, can read the capture at once, and leaves nothing on the disk', async () => {
      const storage = await open();
      const kept = await keepPicture(storage.captureStore, ID);
      expect(kept).toMatchObject({ artifacts: { store: 's3', kinds: ['image', 'html'] } });
      await expectWhole(storage, ID);
      await delivered(storage);
      await expectWhole(storage, ID);
      expect(await leftOnDisk()).toEqual([]);
      expect(await keys()).toHaveLength(2);
      expect(problems).toEqual([]);
    });

    it('sends every object with its SHA-256', async () => {
      const artifacts = storeOf(client);
      proxy.seen.length = proxy.unchecked.length = 0;
      await putCapture(artifacts, captureOf(ID), { image: IMAGE, html: HTML });
      await artifacts.mark(ID, MARKS);
      await artifacts.remove([ID]);
      expect(proxy.seen.filter((line) => line.startsWith('PUT'))).toHaveLength(4);
      expect(proxy.unchecked).toEqual([]);
    });

    it('removes captures and their images one by one in a store that cannot remove many at once', async () => {
      const artifacts = storeOf(client);
      for (const id of [ID, ID + 1]) await putCapture(artifacts, captureOf(id), { image: IMAGE, html: HTML });
      proxy.fault = (line) => (line.startsWith('POST') ? { status: 501, code: 'NotImplemented' } : undefined);
      expect(await artifacts.remove([ID, ID + 1])).toMatchObject({ captures: 2 });
      await sweepOf(client).pass();
      expect(await keys()).toEqual([]);
    });

    it('keeps the thumbnails of a capture whose copy on the disk is removed', async () => {
      const storage = await open();
      await keepPicture(storage.captureStore, ID);
      await storage.thumbnails.write(ID, '320x-q80.webp', IMAGE);
      await delivered(storage);
      expect(await storage.thumbnails.read(ID, '320x-q80.webp')).toEqual(IMAGE);
    });

    it('keeps marks that are given while a capture is uploaded, and writes none of a failed one', async () => {
      const storage = await open();
      proxy.answered = (line) =>
        /^PUT .*image\.png/.test(line) ? storage.captureStore.mark(ID, () => MARKS) : undefined;
      await keepPicture(storage.captureStore, ID);
      await delivered(storage);
      expect(await storeOf(client).record(ID)).toMatchObject(MARKS);
      await storage.captureStore.keep(captureOf(ID + 1, { failed: true }), null);
      await storage.captureStore.mark(ID + 1, () => MARKS);
      expect(await keys()).toHaveLength(3);
    });

    it('keeps marks that the sweep deletes while a capture waits for its upload', async () => {
      const storage = await open();
      let attempts = 0;
      proxy.fault = (line) => {
        if (!/^PUT .*\/capture$/.test(line)) return undefined;
        attempts += 1;
        return DOWN;
      };
      await keepPicture(storage.captureStore, ID);
      await expect.poll(() => attempts).toBeGreaterThan(0);
      await expect.poll(() => storage.artifacts.info(ID).catch((error) => error)).toMatchObject(PENDING);
      // Its upload is not attempted before that of the first one succeeds.
      await keepPicture(storage.captureStore, ID + 1);
      await storage.captureStore.mark(ID + 1, () => MARKS);
      expect(await keys()).toContain(keyOf(ID + 1, 'marks'));
      await sweepOf(client).pass();
      expect(await keys()).not.toContain(keyOf(ID + 1, 'marks'));
      proxy.fault = () => undefined;
      await delivered(storage);
      expect(await storeOf(client).record(ID + 1)).toMatchObject(MARKS);
    });

    it('writes marks of a capture that is in the data directory nowhere else', async () => {
      const before = await open({ artifacts: 'files' });
      await keepPicture(before.captureStore, ID);
      await close(before);
      const storage = await open();
      await storage.captureStore.mark(ID, () => MARKS);
      expect(await keys()).toEqual([]);
      proxy.fault = () => DOWN;
      const marks = { ...MARKS, note: 'y' };
      await storage.captureStore.mark(ID, () => marks);
      expect(await storage.artifacts.record(ID)).toMatchObject(marks);
    });

    it('refuses marks that cannot be written while a capture is uploaded, and writes them when they are repeated', async () => {
      const storage = await open();
      let puts = 0;
      proxy.fault = (line) => {
        if (!/^PUT .*\/marks$/.test(line)) return undefined;
        puts += 1;
        return puts > 4 ? undefined : DOWN;
      };
      const refused: unknown[] = [];
      const mark = () => storage.captureStore.mark(ID, () => MARKS);
      proxy.answered = (line) =>
        /^PUT .*image\.png/.test(line) ? mark().catch((error) => refused.push(error)) : undefined;
      await keepPicture(storage.captureStore, ID);
      await delivered(storage);
      expect(refused).toMatchObject([{ code: 'artifacts_unavailable' }]);
      await mark();
      expect(await storeOf(client).record(ID)).toMatchObject(MARKS);
    });

    it('keeps captures on disk while the object store is away, and has each of them once when it is back', async () => {
      const storage = await open({ maxOutbox: 4 });
      await keepPicture(storage.captureStore, ID);
      await delivered(storage);
      proxy.fault = () => DOWN;
      for (const at of [1, 2, 3]) await keepPicture(storage.captureStore, ID + at);
      await storage.captureStore.keep(captureOf(ID + 4, { failed: true }), null);
      await expect.poll(() => storage.artifacts.info(ID + 1).catch((error) => error)).toMatchObject(PENDING);
      await expect(storage.artifacts.open(ID, 'image')).rejects.toMatchObject({ code: 'artifacts_unavailable' });
      expect(await storage.results.page({ by: 'all' }, 10)).toHaveLength(5);
      await keepPicture(storage.captureStore, ID + 5);
      const full = { code: 'artifacts_unavailable', message: expect.stringContaining('4 captures wait') };
      await expect(keepPicture(storage.captureStore, ID + 6)).rejects.toMatchObject(full);
      expect(problems).toMatchObject([{ code: 'artifacts_unavailable' }]);
      proxy.fault = () => undefined;
      await delivered(storage);
      for (const at of [0, 1, 2, 3, 5]) await expectWhole(storage, ID + at);
      expect((await storage.artifacts.list(10)).map(({ id }) => id)).toEqual([5, 3, 2, 1, 0].map((at) => ID + at));
      expect(await leftOnDisk()).toEqual([]);
    });

    it('delivers what an earlier process left, and announces only what that one had not recorded', async () => {
      proxy.fault = () => DOWN;
      const first = await open();
      await keepPicture(first.captureStore, ID);
      await close(first);
      proxy.fault = () => undefined;
      const recovered: number[] = [];
      const next = await open({
        onRecovered: async ({ id }) => {
          recovered.push(id);
        },
      });
      await delivered(next);
      await expectWhole(next, ID);
      expect(recovered).toEqual([]);
      expect(await leftOnDisk()).toEqual([]);
    });

    it('delivers what an earlier process left over an object with the same id that is damaged', async () => {
      proxy.fault = () => DOWN;
      const first = await open();
      await keepPicture(first.captureStore, ID);
      await close(first);
      proxy.fault = () => undefined;
      await s3Backend(client).put(keyOf(ID, 'capture'), Buffer.from('no head\n'));
      const next = await open();
      await delivered(next);
      await expectWhole(next, ID);
      expect(await leftOnDisk()).toEqual([]);
      expect(problems).toMatchObject([{ code: 'artifacts_unavailable' }]);
    });

    it('uploads captures before it ends', async () => {
      const storage = await open();
      for (const at of [0, 1, 2]) await keepPicture(storage.captureStore, ID + at);
      await close(storage);
      expect(await keys()).toHaveLength(6);
      expect(await leftOnDisk()).toEqual([]);
    });

    it('removes captures that wait on disk, are being uploaded, or are stored', async () => {
      const storage = await open();
      await keepPicture(storage.captureStore, ID);
      await delivered(storage);
      proxy.fault = (line) => (line.startsWith('PUT') ? DOWN : undefined);
      await keepPicture(storage.captureStore, ID + 1);
      await storage.captureStore.remove([ID + 1]);
      proxy.fault = () => undefined;
      await keepPicture(storage.captureStore, ID + 2);
      const removed = await storage.captureStore.remove([ID, ID + 2]);
      expect(removed).toMatchObject({ screenshots: 2, records: 2 });
      await delivered(storage);
      await expect.poll(async () => (await keys()).filter((key) => key.endsWith('/capture'))).toEqual([]);
      expect(await storage.results.page({ by: 'all' }, 10)).toEqual([]);
      await expect.poll(leftOnDisk).toEqual([]);
    });

    it('removes a capture that is removed during its upload when the copy of another one cannot be removed', async () => {
      const storage = await open();
      const kept = Promise.withResolvers<void>();
      proxy.answered = (line) => {
        if (!/^PUT .*image\.png/.test(line)) return undefined;
        if (line.includes(`${ID}/`)) return kept.promise;
        return line.includes(`${ID + 2}/`) ? storage.captureStore.remove([ID + 2]) : undefined;
      };
      await keepPicture(storage.captureStore, ID);
      await expect.poll(() => proxy.seen.some((line) => line.includes(`${ID}/`))).toBe(true);
      // Delivered together, after the first one.
      for (const at of [1, 2]) await keepPicture(storage.captureStore, ID + at);
      await mkdir(join(captureDirectory(join(directory, 'data'), ID + 1), 'in-the-way'));
      kept.resolve();
      await delivered(storage);
      await expect.poll(async () => (await keys()).filter((key) => key.endsWith('/capture'))).toHaveLength(2);
      expect(problems).toMatchObject([{ message: expect.stringContaining('in-the-way') }]);
    });

    it('removes what is too old, then the oldest of what is too much, many with one request', async () => {
      const ids = [50, 49, 40, 3, 2, 1].map((hours) => firstIdAt(new Date(Date.now() - hours * 3_600_000)));
      const first = await open();
      for (const id of ids) await keepPicture(first.captureStore, id);
      await delivered(first);
      const bytes = 2.5 * (await first.artifacts.sizeOf(ids[0] ?? 0));
      await close(first);
      proxy.seen.length = 0;
      const storage = await open({ retain: { days: 1.5, ofLabels: new Map(), bytes } });
      await storage.retention.pass();
      const kept = ids.slice(-2).toReversed();
      expect((await storage.artifacts.list(10)).map(({ id }) => id)).toEqual(kept);
      expect((await storage.results.page({ by: 'all' }, 10)).map(({ id }) => id)).toEqual(kept);
      expect(proxy.seen.filter((line) => line.startsWith('POST'))).toHaveLength(2);
      expect((await keys()).filter((key) => key.endsWith('/capture'))).toHaveLength(2);
    });

    describe('after a process was killed', () => {
      const POINTS = [
        ['when an image is sent', /^PUT .*image\.png/, 'fault'],
        ['when an image is stored', /^PUT .*image\.png/, 'answered'],
        ['when a capture is sent', /^PUT .*\/capture$/, 'fault'],
        ['when a capture is stored', /^PUT .*\/capture$/, 'answered'],
      ] as const;

      it.each(POINTS)('keeps each answered capture once, whole, when that happens %s', async (_, pattern, at) => {
        const answered: number[] = [];
        for (const round of [1, 4]) {
          const script = join(import.meta.dirname, 's3-killed-uploader.ts');
          const child = spawn(process.execPath, ['--no-warnings', script, JSON.stringify(places())], {
            stdio: ['ignore', 'pipe', 'inherit'],
          });
          let left = round;
          const kill = (line: string) => {
            if (!pattern.test(line)) return undefined;
            left -= 1;
            if (left === 0) child.kill('SIGKILL');
            return undefined;
          };
          proxy.fault = at === 'fault' ? kill : () => undefined;
          proxy.answered = at === 'answered' ? kill : () => {};
          const exit = once(child, 'exit');
          for await (const line of createInterface({ input: child.stdout })) answered.push(Number(line));
          await exit;
        }
        proxy.fault = () => undefined;
        proxy.answered = () => {};
        const after = await open();
        await delivered(after);
        const records = (await after.results.page({ by: 'all' }, 1000)).map(({ id }) => id).toSorted();
        expect(records).toEqual(expect.arrayContaining(answered));
        for (const id of records) await expectWhole(after, id);
        expect((await after.artifacts.list(1000)).map(({ id }) => id).toSorted()).toEqual(records);
        expect(await leftOnDisk()).toEqual([]);
        await sweepOf(client).pass();
        expect(await keys()).toHaveLength(2 * records.length);
      });
    });
  },
  ['--conditional-put'],
);
