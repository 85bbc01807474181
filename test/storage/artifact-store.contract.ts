import { buffer, text } from 'node:stream/consumers';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { ArtifactStore } from '../../src/storage/ports/artifact-store.ts';
import { createIdSource, firstIdAt } from '../../src/storage/records/ids.ts';
import { HTML, IMAGE } from './parts.ts';
import { putCapture } from './put-capture.ts';
import { captureOf, resultOf } from './result-of.ts';

const ID = createIdSource({ clock: () => Date.UTC(2026, 10, 21, 9, 5, 59, 999), node: 3 }).next();
const PICTURE = { image: IMAGE, html: HTML };
const BYTES = IMAGE.length + Buffer.byteLength(HTML);

/** An empty place for artifacts, which may be opened more than once. */
export interface EmptyArtifactStore {
  open(): Promise<ArtifactStore>;
  remove(): Promise<void>;
}

/** Requirements of every artifact store. */
export function describeArtifactStore(create: () => Promise<EmptyArtifactStore>): void {
  let empty: EmptyArtifactStore;
  let artifacts: ArtifactStore;

  beforeEach(async () => {
    empty = await create();
    artifacts = await empty.open();
  });

  afterEach(() => empty.remove());

  it('keeps one store id, the same for every process that opens it', async () => {
    const others = await Promise.all([empty.open(), empty.open(), empty.open()]);
    const ids = await Promise.all([artifacts, ...others].map((one) => one.id()));
    expect(new Set(ids).size).toBe(1);
  });

  it('keeps the first capture of an id that is stored twice, without an error', async () => {
    const other = await empty.open();
    const put = (store: ArtifactStore, title: string) =>
      store.put(captureOf(ID, { title }), { image: Buffer.from(title), html: '' });
    expect(await put(artifacts, 'first')).toBe(true);
    expect(await put(other, 'second')).toBe(false);
    expect(await artifacts.record(ID)).toMatchObject({ title: 'first' });
    const image = await artifacts.open(ID, 'image');
    expect(image && (await text(image.stream()))).toBe('first');
    expect(await artifacts.list(10)).toHaveLength(1);
    expect(await artifacts.measure()).toBe(await artifacts.sizeOf(ID));
  });

  it('finds nothing for an id that is not stored', async () => {
    expect(await artifacts.info(ID)).toBeUndefined();
    expect(await artifacts.record(ID)).toBeUndefined();
    expect(await artifacts.open(ID, 'image')).toBeUndefined();
    expect(await artifacts.has(ID)).toBe(false);
    expect(await artifacts.sizeOf(ID)).toBe(0);
    expect(await artifacts.remove([ID])).toEqual({ captures: 0, bytes: 0 });
  });

  it('replaces the marks in the record, in every process, and nothing else', async () => {
    const other = await empty.open();
    const record = captureOf(ID);
    await putCapture(artifacts, record, PICTURE);
    await artifacts.measure();
    const marks = { labels: ['legal', 'Grüße'], note: 'x', hold: { at: record.probed_at, by: 'root' } };
    await artifacts.mark(ID, marks);
    expect(await other.record(ID)).toEqual({ ...record, ...marks });
    expect(await artifacts.info(ID)).toEqual(await other.info(ID));
    const counted = artifacts.bytes;
    expect(await artifacts.measure()).toBe(await artifacts.sizeOf(ID));
    expect(counted).toBeLessThanOrEqual(await artifacts.measure());
    await artifacts.mark(ID + 1, marks);
    expect(await artifacts.record(ID + 1)).toBeUndefined();
  });

  it('reads an open artifact as it was when the marks of its capture change meanwhile', async () => {
    await putCapture(artifacts, captureOf(ID), PICTURE);
    const html = await artifacts.open(ID, 'html');
    await artifacts.mark(ID, { labels: [], note: 'x'.repeat(500), hold: null });
    expect(html && (await text(html.stream()))).toBe(HTML);
  });

  it('returns the record that was staged, evidence included', async () => {
    const record = captureOf(ID);
    await putCapture(artifacts, record, PICTURE);
    expect(await artifacts.record(ID)).toEqual(record);
    expect(await artifacts.info(ID)).not.toHaveProperty('record');
  });

  it('opens the image and the HTML snapshot, whole or in part', async () => {
    await putCapture(artifacts, resultOf(ID), PICTURE);
    const image = await artifacts.open(ID, 'image');
    expect(image?.bytes).toBe(IMAGE.length);
    expect(image && (await buffer(image.stream()))).toEqual(IMAGE);
    const part = await artifacts.open(ID, 'image');
    expect(part && (await text(part.stream({ start: 5, end: 9 })))).toBe('image');
    const html = await artifacts.open(ID, 'html');
    expect(html?.bytes).toBe(Buffer.byteLength(HTML));
    expect(html && (await text(html.stream()))).toBe(HTML);
  });

  it('accepts that an unread file is closed twice', async () => {
    await putCapture(artifacts, resultOf(ID), PICTURE);
    const image = await artifacts.open(ID, 'image');
    await image?.close();
    await image?.close();
  });

  it('lets an open artifact be read to its end after its capture was removed', async () => {
    await putCapture(artifacts, resultOf(ID), PICTURE);
    const image = await artifacts.open(ID, 'image');
    expect(await artifacts.remove([ID])).toMatchObject({ captures: 1 });
    expect(await artifacts.has(ID)).toBe(false);
    expect(image && (await buffer(image.stream()))).toEqual(IMAGE);
  });

  it('lists captures in pages, newest first, across days and minutes, and iterates oldest first', async () => {
    const times = [
      Date.UTC(2026, 0, 1, 0, 0),
      Date.UTC(2026, 0, 1, 23, 59),
      Date.UTC(2026, 0, 2, 0, 0),
      Date.UTC(2026, 0, 2, 0, 1),
      Date.UTC(2027, 0, 1, 12, 0),
    ];
    const ids = times.flatMap((time) => [0, 1, 2].map((at) => firstIdAt(new Date(time)) + at)).reverse();
    for (const id of ids) await putCapture(artifacts, resultOf(id), PICTURE);
    expect((await artifacts.list(1000)).map(({ id }) => id)).toEqual(ids);
    const paged: number[] = [];
    for (;;) {
      const page = await artifacts.list(4, paged.at(-1));
      paged.push(...page.map(({ id }) => id));
      if (page.length < 4) break;
    }
    expect(paged).toEqual(ids);
    const oldest: number[] = [];
    for await (const id of artifacts.oldest()) oldest.push(id);
    expect(oldest).toEqual(ids.toReversed());
  });

  it('counts the stored bytes, including those of other processes, and keeps the count up to date', async () => {
    const other = await empty.open();
    await putCapture(other, resultOf(ID), PICTURE);
    expect(artifacts.bytes).toBeNull();
    const size = await artifacts.sizeOf(ID);
    expect(size).toBeGreaterThanOrEqual(BYTES);
    expect(await artifacts.measure()).toBe(size);
    await putCapture(artifacts, resultOf(ID + 1), PICTURE);
    expect(artifacts.bytes).toBeGreaterThanOrEqual(size + BYTES);
    await artifacts.remove([ID, ID + 1]);
    expect(artifacts.bytes).toBe(0);
    expect(await artifacts.measure()).toBe(0);
  });

  it('counts the bytes of each API key, whichever process stored them, and iterates over the captures of one', async () => {
    const other = await empty.open();
    const ids = [0, 1, 2, 60_000, 60_001].map((at) => firstIdAt(new Date(Date.UTC(2026, 0, 1) + at)));
    for (const [at, id] of ids.entries()) {
      const key = ['one', undefined, 'two', 'one', undefined][at];
      await putCapture(at % 2 === 0 ? artifacts : other, resultOf(id, { api_key_name: key }), PICTURE);
    }
    const total = await artifacts.measure();
    const sizes = await Promise.all(ids.map((id) => artifacts.sizeOf(id)));
    const [first = 0, second = 0, third = 0, fourth = 0, fifth = 0] = sizes;
    const shares = { one: first + fourth, two: third, null: second + fifth };
    expect(Object.fromEntries(artifacts.shares())).toEqual(shares);
    expect(total).toBe(sizes.reduce((sum, size) => sum + size));
    expect(await Array.fromAsync(artifacts.oldest('one'))).toEqual([ids[0], ids[3]]);
    expect(await Array.fromAsync(artifacts.oldest(null))).toEqual([ids[1], ids[4]]);
    expect(await Array.fromAsync(artifacts.oldest('three'))).toEqual([]);
    await artifacts.remove(ids.slice(0, 2));
    await artifacts.measure();
    expect(Object.fromEntries(artifacts.shares())).toEqual({ one: fourth, two: third, null: fifth });
    expect(await Array.fromAsync(artifacts.oldest('one'))).toEqual([ids[3]]);
  });
}
