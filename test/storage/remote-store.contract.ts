import { hash, randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { buffer, text } from 'node:stream/consumers';
import { beforeEach, describe, expect, it } from 'vitest';
import { type ArtifactKind, NAMED_OUTPUT_KINDS } from '../../src/capture/artifacts/artifacts.ts';
import { damagedParts } from '../../src/storage/maintenance/contents.ts';
import type { ArtifactStore } from '../../src/storage/ports/artifact-store.ts';
import { UNCONTESTED } from '../../src/storage/ports/lock.ts';
import type { Backend } from '../../src/storage/remote/backend.ts';
import { fileKey, keyOf } from '../../src/storage/remote/keys.ts';
import { createRemoteStore } from '../../src/storage/remote/remote-store.ts';
import { createSweep, type Sweep, type SweepOptions } from '../../src/storage/remote/sweep.ts';
import { describeArtifactStore } from './artifact-store.contract.ts';
import { HTML, IMAGE } from './parts.ts';
import { putCapture } from './put-capture.ts';
import { captureOf, resultOf } from './result-of.ts';

const ID = 300_000_000_000_000;
const PICTURE = { image: IMAGE, html: HTML };
const MIB = 1024 * 1024;

/** Returns a sweep without competitors, which takes nothing for too new. */
export function sweepOver(backend: Backend, options: Partial<SweepOptions> = {}): Sweep {
  const lock = async () => UNCONTESTED;
  return createSweep({ backend, lock, readingMs: -60_000, uploadMs: -60_000, compareMs: -60_000, ...options });
}

/** Leaves the image of a capture whose upload was cut short. */
export async function cutShort(backend: Backend, id: number, api_key_name?: string): Promise<void> {
  const key = fileKey({ id, api_key_name }, randomUUID(), 'image.png');
  await backend.putFile(key, IMAGE, { type: 'image/png', sha256: hash('sha256', IMAGE) });
}

/**
 * Requirements of every artifact store outside of the data directory. `open`: may be called more than once in a test.
 */
export function describeRemoteStore(open: () => Promise<Backend>): void {
  describeArtifactStore(async () => ({
    open: async () => createRemoteStore(await open()),
    remove: () => Promise.resolve(),
  }));

  describe('over its objects', () => {
    let backend: Backend;
    let artifacts: ArtifactStore;

    beforeEach(async () => {
      backend = await open();
      artifacts = createRemoteStore(backend);
    });

    const keys = async (end = '') =>
      (await Array.fromAsync(backend.list('captures/'))).map(({ key }) => key).filter((key) => key.endsWith(end));
    const sweep = (options?: Partial<SweepOptions>) => sweepOver(backend, options);

    async function read(id: number, kind: ArtifactKind = 'image'): Promise<Buffer | undefined> {
      const file = await artifacts.open(id, kind);
      return file && buffer(file.stream());
    }

    it('reads every range of files that are objects of their own', async () => {
      const [image, html] = [randomBytes(2_500_000), randomBytes(MIB + 10)];
      await putCapture(artifacts, resultOf(ID), { image, html });
      for (const [kind, content] of [
        ['image', image],
        ['html', html],
      ] as const) {
        const { length } = content;
        const spans = [
          [0, 0],
          [0, MIB - 1],
          [MIB - 1, MIB],
          [5, length - 6],
          [length - 1, length - 1],
        ] as const;
        for (const [start, end] of spans) {
          const file = await artifacts.open(ID, kind);
          expect(file && (await buffer(file.stream({ start, end })))).toEqual(content.subarray(start, end + 1));
        }
        expect(await read(ID, kind)).toEqual(content);
      }
      expect(await keys('page.html')).toHaveLength(1);
    });

    it('reads no more than 1 MiB of a file until its reader takes that', async () => {
      const image = randomBytes(5 * MIB);
      await putCapture(artifacts, resultOf(ID), { image, html: HTML });
      let asked = 0;
      const counting = createRemoteStore({
        ...backend,
        get: (key, span) => {
          asked += key.endsWith('capture') ? 0 : span.end + 1 - span.start;
          return backend.get(key, span);
        },
      });
      const stream = (await counting.open(ID, 'image'))?.stream();
      await once(stream ?? process, 'readable');
      await backend.size(keyOf(ID, 'capture'));
      expect(asked).toBeLessThanOrEqual(MIB);
      expect(stream && (await buffer(stream))).toEqual(image);
      expect(asked).toBe(image.length);
    });

    it('keeps short and empty texts in the object of the capture, and reads them in ranges', async () => {
      const html = randomBytes(200_000);
      await putCapture(artifacts, resultOf(ID), { image: IMAGE, html, text: '' });
      expect(await keys()).toHaveLength(2);
      expect(await read(ID, 'html')).toEqual(html);
      const part = await artifacts.open(ID, 'html');
      expect(part && (await buffer(part.stream({ start: 70_000, end: 140_000 })))).toEqual(
        html.subarray(70_000, 140_001),
      );
      const empty = await artifacts.open(ID, 'text');
      expect(empty && (await text(empty.stream()))).toBe('');
    });

    it('packs no more than 8 MiB of texts into the object of a capture', async () => {
      const html = randomBytes(MIB - 1);
      const texts = Object.fromEntries(NAMED_OUTPUT_KINDS.map((kind) => [kind, html]));
      await putCapture(artifacts, resultOf(ID), { image: IMAGE, html, ...texts });
      expect(await backend.size(keyOf(ID, 'capture'))).toBeLessThan(8.1 * MIB);
      for (const kind of ['html', ...NAMED_OUTPUT_KINDS] as const) expect(await read(ID, kind)).toEqual(html);
    });

    it('reads a text to its end after its capture was removed', async () => {
      const html = 'x'.repeat(500_000);
      await putCapture(artifacts, resultOf(ID), { image: IMAGE, html });
      const file = await artifacts.open(ID, 'html');
      await artifacts.remove([ID]);
      expect(file && (await text(file.stream()))).toBe(html);
    });

    it('reads a capture whose record and head are long', async () => {
      const record = captureOf(ID, { title: 'x'.repeat(20_000) });
      await putCapture(artifacts, record, PICTURE);
      expect(await artifacts.record(ID)).toEqual(record);
      expect(await read(ID)).toEqual(IMAGE);
    });

    it('does not open a file that is gone or has another size, and finds it', async () => {
      await putCapture(artifacts, resultOf(ID), PICTURE);
      const [image = ''] = await keys('.png');
      await backend.remove([image]);
      await expect(artifacts.open(ID, 'image')).rejects.toMatchObject({ code: 'artifact_damaged' });
      await backend.putFile(image, Buffer.from('short'), { type: 'image/png', sha256: hash('sha256', 'short') });
      await expect(artifacts.open(ID, 'image')).rejects.toMatchObject({ code: 'artifact_damaged' });
      expect(await Array.fromAsync(damagedParts(backend))).toEqual([{ id: ID, part: 'image' }]);
    });

    it('reports a record that is cut, cannot be read or has changed as damaged, finds it in a check, and publishes over it', async () => {
      const html = randomBytes(20_000);
      const damages = [
        (whole: Buffer) => whole.subarray(0, -10),
        (whole: Buffer) => whole.subarray(0, html.length - 10),
        (whole: Buffer) => Buffer.concat([whole.subarray(0, -10), Buffer.alloc(10, '{')]),
        (whole: Buffer) => whole.fill('T', whole.lastIndexOf('title'), whole.lastIndexOf('title') + 1),
      ];
      for (const [at, damage] of damages.entries()) {
        const id = ID + at;
        await putCapture(artifacts, captureOf(id), { image: IMAGE, html });
        const key = keyOf(id, 'capture');
        const object = await backend.get(key, { start: 0, end: MIB });
        await backend.put(key, damage(object ?? Buffer.alloc(0)));
        const message = `The record of the capture ${id} is damaged in its store.`;
        await expect(artifacts.record(id)).rejects.toMatchObject({ code: 'artifact_damaged', message });
        expect(await read(id)).toEqual(IMAGE);
      }
      const ids = damages.map((_, at) => ID + at);
      expect(await Array.fromAsync(damagedParts(backend))).toEqual(ids.map((id) => ({ id, part: 'record' })));
      for (const id of ids) {
        expect(await artifacts.put(captureOf(id), { image: IMAGE, html })).toBe(true);
        expect(await artifacts.record(id)).toEqual(captureOf(id));
      }
    });

    it('lists the others beside captures whose record is damaged, and finds these', async () => {
      for (const id of [ID, ID + 1, ID + 2, ID + 3]) await putCapture(artifacts, captureOf(id), PICTURE);
      await backend.put(keyOf(ID, 'capture'), Buffer.from('no head\n'));
      await backend.put(keyOf(ID + 2, 'capture'), Buffer.from(''));
      const stored = (await backend.get(keyOf(ID + 3, 'capture'), { start: 0, end: MIB }))?.toString() ?? '';
      await backend.put(keyOf(ID + 3, 'capture'), Buffer.from(stored.replace('"at":', '"to":')));
      expect((await artifacts.list(2)).map(({ id }) => id)).toEqual([ID + 1]);
      for (const read of [artifacts.info, artifacts.record, (id: number) => artifacts.open(id, 'image')])
        await expect(read(ID)).rejects.toMatchObject({ code: 'artifact_damaged' });
      expect(await Array.fromAsync(damagedParts(backend))).toEqual([
        { id: ID, part: 'record' },
        { id: ID + 2, part: 'record' },
        { id: ID + 3, part: 'record' },
      ]);
    });

    it('removes a capture whose head is damaged, together with others', async () => {
      for (const id of [ID, ID + 1]) {
        await putCapture(artifacts, captureOf(id), PICTURE);
        await artifacts.mark(id, { labels: ['legal'], note: '', hold: null });
      }
      await backend.put(keyOf(ID, 'capture'), Buffer.from('no head\n'));
      expect(await artifacts.sizeOf(ID)).toBe(8 + IMAGE.length);
      expect(await artifacts.remove([ID, ID + 1])).toMatchObject({ captures: 2 });
      expect(await keys('capture')).toEqual([]);
      expect(await keys('marks')).toEqual([]);
      await sweep({ uploadMs: 600_000 }).pass();
      expect(await keys()).toEqual([]);
    });

    it('publishes a capture over one with its id whose head is damaged', async () => {
      await putCapture(artifacts, captureOf(ID), PICTURE);
      const [old = ''] = await keys('.png');
      await backend.put(keyOf(ID, 'capture'), Buffer.from('no head\n'));
      expect(await artifacts.put(captureOf(ID), PICTURE)).toBe(true);
      expect(await artifacts.record(ID)).toEqual(captureOf(ID));
      expect(await read(ID)).toEqual(IMAGE);
      await sweep().pass();
      expect(await keys('.png')).toHaveLength(1);
      expect(await keys('.png')).not.toContain(old);
    });

    it('refuses to publish a capture whose upload took so long that a sweep may have deleted its files', async () => {
      const slow = createRemoteStore(backend, -1);
      await expect(slow.put(captureOf(ID), PICTURE)).rejects.toMatchObject({ code: 'artifacts_unavailable' });
      expect(await keys()).toEqual([]);
    });

    it('deletes the files of a removed capture after a grace period for its readers', async () => {
      for (const id of [ID, ID + 1]) await putCapture(artifacts, resultOf(id), PICTURE);
      const file = await artifacts.open(ID, 'image');
      await artifacts.remove([ID]);
      expect(await sweep({ readingMs: 600_000 }).pass()).toBe(0);
      expect(file && (await buffer(file.stream()))).toEqual(IMAGE);
      await sweep().pass();
      expect(await keys('.png')).toHaveLength(1);
      expect(await Array.fromAsync(backend.list('removed/'))).toEqual([]);
      expect(await read(ID + 1)).toEqual(IMAGE);
    });

    it('keeps the files of a capture whose removal was cut short', async () => {
      await putCapture(artifacts, resultOf(ID), PICTURE);
      await backend.put('removed/x', Buffer.from((await keys('.png')).join('\n')));
      expect(await sweep().pass()).toBe(0);
      expect(await read(ID)).toEqual(IMAGE);
    });

    it('deletes files of uploads that were cut short, and no younger ones', async () => {
      await putCapture(artifacts, resultOf(ID), PICTURE);
      await cutShort(backend, ID);
      await cutShort(backend, ID + 1, 'one');
      expect(await sweep({ uploadMs: 600_000 }).pass()).toBe(0);
      expect(await keys('.png')).toHaveLength(3);
      expect(await sweep().pass()).toBe(2);
      expect(await keys('.png')).toHaveLength(1);
      expect(await read(ID)).toEqual(IMAGE);
    });

    it('compares all files with the captures once a day, whichever process does it', async () => {
      await cutShort(backend, ID);
      await sweep({ uploadMs: 600_000, compareMs: 600_000 }).pass();
      expect(await sweep({ compareMs: 600_000 }).pass()).toBe(0);
      expect(await sweep().pass()).toBe(1);
    });

    it('deletes marks that came after their capture was removed, and keeps those of other captures', async () => {
      for (const id of [ID, ID + 1]) {
        await putCapture(artifacts, captureOf(id), PICTURE);
        await artifacts.mark(id, { labels: ['legal'], note: '', hold: null });
      }
      await artifacts.remove([ID]);
      expect(await keys('/marks')).toEqual([keyOf(ID + 1, 'marks')]);
      await backend.put(keyOf(ID, 'marks'), Buffer.from('{}'));
      await sweep().pass();
      expect(await keys('/marks')).toEqual([keyOf(ID + 1, 'marks')]);
      expect(await artifacts.record(ID + 1)).toMatchObject({ labels: ['legal'] });
    });

    it('sweeps in one process at a time, and ends once another one has the lock', async () => {
      for (const at of [0, 1, 2]) await cutShort(backend, ID + at);
      expect(await sweep({ lock: async () => undefined }).pass()).toBe(0);
      let steps = 0;
      const lost = {
        get isHeld() {
          steps += 1;
          return steps < 2;
        },
        release: () => undefined,
      };
      await sweep({ lock: async () => lost }).pass();
      expect(steps).toBe(2);
      expect(await keys('.png')).toHaveLength(3);
      await sweep().pass();
      expect(await keys('.png')).toEqual([]);
    });
  });
}
