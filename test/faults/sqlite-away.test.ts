import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
import { capstan, type Ground, ground, type Served, serve } from '../commands/capstan-process.ts';
import { siteForSuite } from '../support/for-suite.ts';
import { captureMany, captureUntilOneWaits, expectAllWritten } from './away.ts';
import { type AnsweredResult, allResults, capture, oneResult, readiness, stats } from './client.ts';
import { lockDatabase } from './locked-database.ts';
import { mountSmallDisk, whyNoTmpfs } from './tmpfs.ts';

describe('a service whose SQLite file is unavailable', () => {
  const site = siteForSuite();

  const start = (place: Ground, db: string) =>
    serve(['--allow-targets', '127.0.0.1', '--max-concurrent', '2', '--db-path', db], place.options);
  const end = async (service: Served) => {
    service.child.kill('SIGTERM');
    expect(await service.ended).toMatchObject({ code: 0 });
  };
  const page = () => site.url('/title?t=kept');

  it('keeps capturing while its file is locked, from the start and later', async () => {
    const place = await ground();
    const path = join(place.path, 'results.db');
    const holder = new DatabaseSync(path);
    holder.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE');
    const service = await start(place, path);
    const before = await captureMany(service, page(), 2);
    for (const question of ['/results', '/results/by-host?host=127.0.0.1', '/results/1']) {
      const answer = await fetch(service.url + question);
      expect({ status: answer.status, body: await answer.json() }).toMatchObject({
        status: 503,
        body: { code: 'database_unavailable' },
      });
    }
    expect((await stats(service.url)).store).toEqual({ state: 'down', outbox: 2 });
    holder.exec('ROLLBACK');
    holder.close();
    await expectAllWritten(service, join(place.path, 'data'), before);

    const lock = lockDatabase(path);
    const during = [...(await captureUntilOneWaits(service, page())), ...(await captureMany(service, page(), 2))];
    const ids = (await allResults(service.url)).map(({ id }) => id);
    expect(ids.toSorted()).toEqual(before.map(({ id }) => id).toSorted());
    expect((await stats(service.url)).store.outbox).toBe(during.length);
    expect(await readiness(service.url)).toEqual({ status: 200, code: '', degraded: ['database'] });
    lock[Symbol.dispose]();
    await expectAllWritten(service, join(place.path, 'data'), [...before, ...during]);
    expect(await readiness(service.url)).toEqual({ status: 200, code: '', degraded: [] });
    await end(service);
  });

  it('restores every answered capture with `capstan db rebuild` after the SQLite file was removed while the service ran', async () => {
    const place = await ground();
    const path = join(place.path, 'results.db');
    const removed = await start(place, path);
    const answered: AnsweredResult[] = [];
    const captureBoth = async () => {
      for (const url of [page(), site.url('/empty-response')]) {
        const { result } = await capture(removed.url, { url });
        if (result === null) throw new Error(`no record was answered for ${url}`);
        answered.push(result);
      }
    };
    await captureBoth();
    await rm(path);
    do await captureBoth();
    while ((await stats(removed.url)).store.state !== 'damaged');
    await captureBoth();
    removed.child.kill('SIGKILL');
    const { stderr } = await removed.ended;
    expect(stderr.match(/"msg":"the database is damaged"/g)).toHaveLength(1);

    await expect(start(place, path)).rejects.toThrow(`the database ${path} is missing: mount it, restore a backup, or`);
    expect(await capstan(['db', 'rebuild', '--db-path', path], place.options)).toMatchObject({ code: 0 });
    const rebuilt = await start(place, path);
    await expectAllWritten(rebuilt, join(place.path, 'data'), answered);
    await end(rebuilt);
  });

  const reason = whyNoTmpfs === undefined ? '' : ` (skipped: ${whyNoTmpfs})`;
  it.skipIf(whyNoTmpfs !== undefined)(
    `keeps capturing while the disk of its file is full, and writes the waiting records when there is room${reason}`,
    async () => {
      const place = await ground();
      const folder = join(place.path, 'disk');
      await mkdir(folder);
      await using disk = await mountSmallDisk(folder, 1024);
      const service = await start(place, join(folder, 'results.db'));
      const before = await captureMany(service, page(), 1);
      await disk.fill();
      const during = [...(await captureUntilOneWaits(service, page())), ...(await captureMany(service, page(), 2))];
      const [first] = before;
      expect(await oneResult(service.url, first?.id ?? 0)).toEqual(first);
      await disk.free();
      await expectAllWritten(service, join(place.path, 'data'), [...before, ...during]);
      await end(service);
    },
  );
});
