import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type Amount, STORED_LIMITS } from '../../src/capture/stored-limits.ts';
import type { Database } from '../../src/storage/ports/database.ts';
import { type NewWatch, type StoredWatch, type TakeDue, WATCH_LEASE_MS } from '../../src/storage/ports/watch-store.ts';
import { describeInEachDatabase } from './each-database.ts';

const NOW = 1_800_000_000_000;
const ALL: TakeDue = { now: NOW, exceptHosts: [], exceptKeys: [] };

function closing(database: Database) {
  return { database, [Symbol.asyncDispose]: () => database.close() };
}

describeInEachDatabase((open) => {
  describe('the store of watches', () => {
    let database: Database;
    let ids = 0;

    beforeAll(async () => {
      database = await open();
    });
    // Leaves no watch for the next test to take.
    afterEach(async () => {
      for (let isCut = true; isCut; ) {
        const all = await database.watches.list({ ofKey: undefined, label: undefined, after: 0, limit: 1000 });
        for (const { id } of all.items) await database.watches.remove(id);
        isCut = all.isCut;
      }
    });
    afterAll(() => database?.close());

    async function added(overrides: Partial<NewWatch> = {}, max: Partial<Amount> = {}): Promise<number> {
      ids += 1;
      const watch = { apiKeyName: '', host: 'a.test', everyMs: 60_000, dueAt: NOW, labels: [], keysShare: false };
      const texts = { summary: 's', definition: 'd', progress: 'p' };
      await database.watches.add({ id: ids, ...watch, ...texts, ...overrides }, { ...STORED_LIMITS.watches, ...max });
      return ids;
    }
    const takeOf = async (store: Database, owner: string, due: Partial<TakeDue> = {}) =>
      (await store.watches.take([owner], { ...ALL, ...due }))[0];
    const take = (due: Partial<TakeDue> = {}, owner = 'a') => takeOf(database, owner, due);

    it('leases the watch that has been due longest, once', async () => {
      const [later, sooner] = [await added(), await added({ dueAt: NOW - 1 })];
      await added({ dueAt: NOW + 1 });
      await added({ dueAt: null });
      const taken = [await take(), await take({}, 'b'), await take({}, 'c')];
      expect(taken.map((watch) => watch?.id)).toEqual([sooner, later, undefined]);
    });

    it('leases several at once, those that have been due longest, but two of a host', async () => {
      const ids = [await added({ dueAt: NOW - 5 }), await added({ dueAt: NOW - 4 })];
      await added({ dueAt: NOW - 3 });
      ids.push(await added({ host: 'b.test', dueAt: NOW - 2 }), await added({ host: 'c.test', dueAt: NOW - 1 }));
      await added({ host: 'd.test' });
      const taken = await database.watches.take(['a', 'b', 'c', 'd'], ALL);
      expect(taken.map(({ id }) => id).sort()).toEqual(ids.sort());
      expect(new Set(taken.map(({ owner }) => owner)).size).toBe(4);
    });

    it('leaves watches of busy hosts and keys alone', async () => {
      await added({ host: 'b.test' });
      await added({ apiKeyName: 'flood' });
      const free = await added();
      const except = { exceptHosts: ['b.test'], exceptKeys: ['flood'] };
      expect((await take(except))?.id).toBe(free);
      expect(await take(except)).toBeUndefined();
    });

    it('gives the watch of a dead process to another, with the run that was stored for this time', async () => {
      const id = await added();
      await take();
      expect(await database.watches.put(id, 'a', { dueAt: NOW, body: 'first' })).toBe(true);
      expect(await take({ now: NOW + WATCH_LEASE_MS - 1 }, 'b')).toBeUndefined();
      const taken = await take({ now: NOW + WATCH_LEASE_MS }, 'b');
      expect(taken).toMatchObject({ id, dueAt: NOW, run: { body: 'first' } });
      expect(await database.watches.put(id, 'a', { dueAt: NOW, body: 'late' })).toBe(false);
      const runs = [{ dueAt: NOW, body: 'first' }];
      expect(await database.watches.runs(id, 10, NOW + 1)).toEqual({ items: runs, isCut: false });
    });

    it('keeps a lease that is renewed', async () => {
      const id = await added();
      await take();
      expect(await database.watches.renew(id, 'a', NOW + 1000)).toBe(true);
      expect(await take({ now: NOW + WATCH_LEASE_MS }, 'b')).toBeUndefined();
    });

    it('drops the run of a watch that is changed or removed meanwhile', async () => {
      const id = await added();
      await take();
      const changed = { host: 'c.test', everyMs: null, dueAt: NOW + 5, summary: 'new' };
      const rest = { labels: [], keysShare: false };
      const change = { ...changed, ...rest, definition: 'written' };
      expect(await database.watches.change(id, () => change)).toMatchObject(changed);
      expect(await database.watches.definition(id)).toBe('written');
      expect(await database.watches.put(id, 'a', { dueAt: NOW, body: 'dropped' })).toBe(false);
      expect(
        await database.watches.finish(id, 'a', () => ({ dueAt: 1, plannedAt: NOW, progress: 'lost', keep: 9 })),
      ).toBeUndefined();
      expect(await database.watches.get(id)).toMatchObject({ ...changed, progress: 'p' });
      expect(await take({ now: NOW + 4 }, 'b')).toBeUndefined();
      expect(await take({ now: NOW + 5 }, 'b')).toMatchObject({ id, run: undefined });
      await database.watches.change(id, () => ({ ...changed, ...rest, dueAt: null }));
      await database.watches.release(id, 'b', NOW);
      expect(await take({ now: NOW + 2 * WATCH_LEASE_MS })).toBeUndefined();
      expect(await database.watches.remove(id)).toEqual([]);
      expect(await database.watches.change(id, () => ({ ...changed, ...rest }))).toBeUndefined();
      expect(await database.watches.remove(id)).toBeUndefined();
    });

    it('counts the page of a run for its host until the run ends, also when the watch is changed', async () => {
      const ids = [await added(), await added()];
      const [waiting, ...elsewhere] = [await added(), await added({ host: 'b.test' }), await added({ host: 'b.test' })];
      for (const owner of ['a', 'b']) expect(ids).toContain((await take({ exceptHosts: ['b.test'] }, owner))?.id);
      const changed = { host: 'b.test', everyMs: null, dueAt: NOW, summary: 'new', labels: [], keysShare: false };
      for (const id of ids) await database.watches.change(id, () => changed);
      expect(elsewhere).toContain((await take({}, 'c'))?.id);
      expect(elsewhere).toContain((await take({}, 'd'))?.id);
      expect(await take({}, 'e')).toBeUndefined();
      const [own = 0] = ids;
      for (const owner of ['a', 'b']) await database.watches.put(own, owner, { dueAt: NOW, body: 'dropped' });
      expect((await take({}, 'e'))?.id).toBe(waiting);
      // The other process died: its page counts until the lease ends, and then the watch is of its new host.
      await database.watches.renew(waiting ?? 0, 'e', NOW + WATCH_LEASE_MS);
      const later = { now: NOW + WATCH_LEASE_MS, exceptHosts: ['b.test'] };
      expect(await take(later, 'f')).toBeUndefined();
      expect((await take({ now: later.now }, 'f'))?.host).toBe('b.test');
    });

    it('keeps the newest runs, and returns those that it removes', async () => {
      const id = await added();
      for (let dueAt = NOW; dueAt < NOW + 4; dueAt += 1) {
        await take({ now: dueAt });
        await database.watches.put(id, 'a', { dueAt, body: `${dueAt - NOW}` });
        const next = { dueAt: dueAt + 1, plannedAt: dueAt, progress: 'next', keep: 2 };
        const old = await database.watches.finish(id, 'a', () => next);
        expect(old?.map(({ body }) => body)).toEqual(dueAt < NOW + 2 ? [] : [`${dueAt - NOW - 2}`]);
      }
      expect((await database.watches.runs(id, 10, NOW + 9)).items.map(({ body }) => body)).toEqual(['3', '2']);
      expect((await database.watches.runs(id, 10, NOW + 3)).items.map(({ body }) => body)).toEqual(['2']);
    });

    it('keeps all of several changes at once, with their labels', async () => {
      await using other = closing(await open());
      const id = await added({ summary: '', labels: ['0'] });
      const both = [database, other.database];
      await Promise.all(
        Array.from({ length: 12 }, (_, at) =>
          both[at % 2]?.watches.change(id, ({ summary }) => ({
            host: 'a.test',
            everyMs: null,
            dueAt: null,
            summary: `${summary}x`,
            labels: [String(summary.length % 2)],
            keysShare: false,
          })),
        ),
      );
      expect((await database.watches.get(id))?.summary).toHaveLength(12);
      const list = async (label: string) =>
        (await database.watches.list({ ofKey: undefined, label, after: 0, limit: 1 })).items;
      expect([await list('0'), await list('1')]).toEqual([[], [expect.objectContaining({ id })]]);
    });

    it('lets the owner of a stored run announce it when the watch is changed meanwhile', async () => {
      const id = await added();
      await take();
      await database.watches.put(id, 'a', { dueAt: NOW, body: 'stored' });
      const changed = { host: 'a.test', everyMs: null, dueAt: NOW + 5, summary: 'new', labels: [], keysShare: false };
      await database.watches.change(id, () => changed);
      expect(await take({ now: NOW + 6 }, 'b')).toBeUndefined();
      // Had the owner died, another one would announce the run.
      const taken = await take({ now: NOW + WATCH_LEASE_MS }, 'b');
      expect(taken).toMatchObject({ dueAt: NOW, run: { body: 'stored' }, summary: 'new' });
      const next = (watch: StoredWatch) => ({ dueAt: watch.dueAt, plannedAt: NOW, progress: 'after', keep: 9 });
      expect(await database.watches.finish(id, 'b', next)).toEqual([]);
      expect(await database.watches.get(id)).toMatchObject({ dueAt: NOW + 5, progress: 'after', summary: 'new' });
      expect((await take({ now: NOW + 5 }, 'c'))?.run).toBeUndefined();
    });

    it('leases at most two watches of a host to all processes together', async () => {
      await using other = closing(await open());
      for (let round = 0; round < 5; round += 1) {
        const ids: number[] = [];
        for (let watch = 0; watch < 6; watch += 1) ids.push(await added({ host: `${round}.test` }));
        const all = [...'abc'].flatMap((owner) => [takeOf(database, owner), takeOf(other.database, `o${owner}`)]);
        const atOnce = (await Promise.all(all)).filter((watch) => watch !== undefined).length;
        // Those that came at once may all have left the places to each other.
        expect(atOnce).toBeLessThanOrEqual(2);
        let leased = atOnce;
        while ((await takeOf(other.database, `more ${leased}`)) !== undefined) leased += 1;
        expect(leased).toBe(2);
        // A dead process keeps its places for as long as its watches.
        expect((await take({ now: NOW + WATCH_LEASE_MS }, 'later'))?.host).toBe(`${round}.test`);
        for (const id of ids) await database.watches.remove(id);
      }
    });

    it('gives the places of a host to the keys that wait for them in turn', async () => {
      for (let late = 9; late > 4; late -= 1) await added({ apiKeyName: 'flood', dueAt: NOW - late });
      for (const apiKeyName of ['ann', 'zoe', '']) await added({ apiKeyName });
      const keys: (string | undefined)[] = [];
      const under: { id: number; owner: string }[] = [];
      for (let turn = 0; turn < 6; turn += 1) {
        const owner = `owner ${turn}`;
        const taken = await take({}, owner);
        keys.push(taken?.apiKeyName);
        under.push({ id: taken?.id ?? 0, owner });
        const [oldest] = under.length === 2 ? under.splice(0, 1) : [];
        const never = { dueAt: null, plannedAt: NOW, progress: 'p', keep: 1 };
        if (oldest !== undefined) await database.watches.finish(oldest.id, oldest.owner, () => never);
      }
      expect(keys).toEqual(['flood', 'zoe', '', 'ann', 'flood', 'flood']);
    });

    it('releases a watch for a later time', async () => {
      const id = await added();
      await take();
      await database.watches.release(id, 'a', NOW + 10);
      expect(await take({ now: NOW + 9 })).toBeUndefined();
      expect((await take({ now: NOW + 10 }))?.id).toBe(id);
    });

    it('moves up only watches with an interval after the clock was set back', async () => {
      const hour = 3_600_000;
      const [regular, soon] = [await added({ dueAt: NOW + hour }), await added({ dueAt: NOW + 90_000 })];
      const scheduled = await added({ everyMs: null, dueAt: NOW + hour });
      await database.watches.hasten(NOW, (_id, everyMs) => NOW + everyMs);
      const dueAt = async (id: number) => (await database.watches.get(id))?.dueAt;
      expect(await dueAt(regular)).toBe(NOW + 60_000);
      expect(await dueAt(soon)).toBe(NOW + 90_000);
      expect(await dueAt(scheduled)).toBe(NOW + hour);
    });

    it('leaves a long wait after failures alone, unless the clock was set back before it began', async () => {
      const id = await added({ dueAt: NOW });
      const later = { dueAt: NOW + 3_600_000, plannedAt: NOW, progress: 'p', keep: 1 };
      const dueAt = async () => (await database.watches.get(id))?.dueAt;
      await take();
      await database.watches.finish(id, 'a', () => later);
      await database.watches.hasten(NOW, (_id, everyMs) => NOW + everyMs);
      expect(await dueAt()).toBe(later.dueAt);
      await database.watches.hasten(NOW - 1000, (_id, everyMs) => NOW + everyMs);
      expect(await dueAt()).toBe(NOW + 60_000);
    });

    it('ends the leases of a dead process whose clock was ahead', async () => {
      const ahead = NOW + 86_400_000;
      const ids = [await added({ dueAt: NOW }), await added({ dueAt: NOW })];
      for (const owner of ids) expect(await take({ now: ahead }, `dead ${owner}`)).toBeDefined();
      expect(await take({ now: NOW + 1 }, 'b')).toBeUndefined();
      await database.watches.hasten(NOW + 1, (_id, everyMs) => NOW + everyMs);
      expect(ids).toContain((await take({ now: NOW + 1 }, 'b'))?.id);
    });

    it('has a share for each key', async () => {
      const ofKey = (apiKeyName: string) => added({ apiKeyName, keysShare: true }, { count: 4 });
      await ofKey('flood');
      await ofKey('flood');
      await expect(ofKey('flood')).rejects.toMatchObject({ code: 'too_many_watches' });
      await ofKey('shop');
      await added({}, { count: 4 });
      await expect(added({}, { count: 4 })).rejects.toMatchObject({ code: 'too_many_watches' });
    });

    it('adds no watch and no standing query beyond the maximum when two processes add one at once', async () => {
      await using other = closing(await open());
      for (let round = 0; round < 5; round += 1) {
        const watch = { apiKeyName: '', host: 'a.test', everyMs: null, dueAt: null, labels: [], keysShare: false };
        const rest = { summary: 's', definition: 'd', progress: 'p' };
        ids += 2;
        const added = await Promise.allSettled(
          [database, other.database].map(({ watches }, at) =>
            watches.add({ id: ids - at, ...watch, ...rest }, { ...STORED_LIMITS.watches, count: round + 1 }),
          ),
        );
        expect(added.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
        const kept = await Promise.allSettled(
          [database, other.database].map(({ queries }, at) =>
            queries.add(
              {
                id: `${ids - at}`,
                apiKeyName: 'shop',
                filter: '{}',
                position: 0,
                notify: [],
                notifyAfter: 0,
                keysShare: false,
              },
              { ...STORED_LIMITS.queries, count: round + 1 },
            ),
          ),
        );
        expect(kept.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
      }
    });

    it('lists the watches with a label, of all keys or one, also after a change of labels', async () => {
      const ids = [await added({ labels: ['prices', 'prices'] }), await added({ labels: ['news', 'prices'] })];
      const own = await added({ labels: ['prices'], apiKeyName: 'shop' });
      const list = async (label: string, ofKey?: string) =>
        (await database.watches.list({ ofKey, label, after: 0, limit: 10 })).items.map(({ id }) => id);
      expect(await list('prices')).toEqual([...ids, own]);
      expect(await list('prices', 'shop')).toEqual([own]);
      expect(await list('news')).toEqual(ids.slice(1));
      const rest = { host: 'a.test', everyMs: null, dueAt: null, summary: 's', keysShare: false };
      await database.watches.change(own, () => ({ ...rest, labels: ['news'] }));
      expect(await list('prices')).toEqual(ids);
      expect(await list('news', 'shop')).toEqual([own]);
      await database.watches.remove(own);
      expect(await list('news', 'shop')).toEqual([]);
    });

    it('has a share of the bytes for each key, of all that is stored for its watches', async () => {
      const kib = 'x'.repeat(1024);
      const max = { count: 100, bytes: 40 * 1024 };
      const ofKey = (apiKeyName: string, definition: string, labels: string[] = []) =>
        added({ apiKeyName, definition, labels, keysShare: true }, max);
      await expect(ofKey('flood', kib.repeat(20))).rejects.toMatchObject({
        code: 'too_many_watches',
        message: expect.stringMatching(/^The API key has 0 KiB of watches, and its share has no room for 21 KiB more/),
      });
      const id = await ofKey('flood', kib.repeat(15));
      const change = (definition: string) => () => ({
        ...{ host: 'a.test', everyMs: null, dueAt: null, labels: [], keysShare: true, summary: 's' },
        definition,
      });
      await expect(database.watches.change(id, change(kib.repeat(30)), max)).rejects.toMatchObject({
        code: 'too_many_watches',
      });
      await database.watches.change(id, change(kib.repeat(16)), max);
      await expect(ofKey('flood', kib.repeat(8))).rejects.toMatchObject({ code: 'too_many_watches' });
      await ofKey('shop', kib.repeat(8));
      const labels = Array.from({ length: 20 }, (_, at) => String.fromCodePoint(0x1f600 + at).repeat(32));
      await expect(ofKey('shop', kib, labels)).rejects.toMatchObject({ code: 'too_many_watches' });
      await database.watches.change(id, change(kib), max);
      await ofKey('shop', kib, labels);
    });

    it('keeps to the share of a key when several of its watches are changed at the same time', async () => {
      const kib = 'x'.repeat(1024);
      const max = { count: 100, bytes: 80 * 1024 };
      const given = { host: 'a.test', everyMs: null, dueAt: null, labels: [], keysShare: true, summary: 's' };
      const ids: number[] = [];
      for (let at = 0; at < 4; at += 1) {
        ids.push(await added({ apiKeyName: 'flood', definition: kib, labels: [], keysShare: true }, max));
      }
      const definition = kib.repeat(20);
      const changed = await Promise.allSettled(
        ids.map((id) => database.watches.change(id, () => ({ ...given, definition }), max)),
      );
      expect(changed.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected', 'rejected', 'rejected']);
    });

    it('divides the bytes of the runs of a key among its watches', async () => {
      const id = await added({ apiKeyName: 'flood', keysShare: true });
      for (let at = 0; at < 3; at += 1) await added({ apiKeyName: 'flood', dueAt: null, keysShare: true });
      const body = 'x'.repeat(10 * 1024);
      const removed: number[] = [];
      for (let dueAt = NOW; dueAt < NOW + 5; dueAt += 1) {
        await take({ now: dueAt });
        await database.watches.put(id, 'a', { dueAt, body });
        const next = { dueAt: dueAt + 1, plannedAt: dueAt, progress: 'p', keep: 100 };
        const old = await database.watches.finish(id, 'a', () => next, 100 * 1024);
        removed.push(...(old ?? []).map((run) => run.dueAt));
      }
      // A quarter of 100 KiB holds two runs.
      expect(removed).toEqual([NOW, NOW + 1, NOW + 2]);
    });

    it('counts the runs of a watch, and removes the oldest beyond 1 MiB', async () => {
      const id = await added({ apiKeyName: 'flood', keysShare: true });
      const body = 'x'.repeat(300 * 1024);
      for (let dueAt = NOW; dueAt < NOW + 5; dueAt += 1) {
        await take({ now: dueAt });
        await database.watches.put(id, 'a', { dueAt, body });
        const old = await database.watches.finish(id, 'a', () => ({
          ...{ dueAt: dueAt + 1, plannedAt: dueAt, progress: 'p', keep: 100 },
        }));
        expect(old?.map((run) => run.dueAt)).toEqual(dueAt < NOW + 3 ? [] : [dueAt - 3]);
      }
      await expect(added({ apiKeyName: 'flood', keysShare: true }, { bytes: 1500 * 1024 })).rejects.toMatchObject({
        code: 'too_many_watches',
      });
    });

    it('lists watches and runs in pages of 2 MiB, and goes on after each', async () => {
      const wide = { summary: 'x'.repeat(300 * 1024), labels: ['wide'] };
      const ids: number[] = [];
      for (let watch = 0; watch < 10; watch += 1) ids.push(await added(wide));
      for (const label of [undefined, 'wide']) {
        const first = await database.watches.list({ ofKey: undefined, label, after: 0, limit: 1000 });
        expect([first.items.length, first.isCut]).toEqual([7, true]);
        const after = first.items.at(-1)?.id ?? 0;
        const rest = await database.watches.list({ ofKey: undefined, label, after, limit: 1000 });
        expect(rest.isCut).toBe(false);
        expect([...first.items, ...rest.items].map((watch) => watch.id)).toEqual(ids);
      }
    });

    it('does not read the definitions of watches that it lists', async () => {
      for (let watch = 0; watch < 5; watch += 1) await added({ definition: 'x'.repeat(1024 * 1024) });
      const { items } = await database.watches.list({ ofKey: undefined, label: undefined, after: 0, limit: 1000 });
      expect(items).toHaveLength(5);
      expect(JSON.stringify(items).length).toBeLessThan(2000);
    });

    it('lists the watches of one key, by id', async () => {
      const own = [await added({ apiKeyName: 'shop' }), await added({ apiKeyName: 'shop' })];
      await added({ apiKeyName: 'flood' });
      const list = async (after: number, limit: number) =>
        (await database.watches.list({ ofKey: 'shop', label: undefined, after, limit })).items.map(({ id }) => id);
      expect(await list(0, 10)).toEqual(own);
      expect(await list(0, 1)).toEqual(own.slice(0, 1));
      expect(await list(own[0] ?? 0, 10)).toEqual(own.slice(1));
    });
  });
});
