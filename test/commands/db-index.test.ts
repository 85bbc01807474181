import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { packWords } from '../../src/capture/result/page-words.ts';
import { ListedResultSchema } from '../../src/http/answer/schemas.ts';
import { describeWithSharedMongo } from '../support/describe-with-mongo.ts';
import { type RunningService, startService } from '../support/service.ts';
import { makeDirectory } from '../support/temporary-directory.ts';
import { capstan, ground } from './capstan-process.ts';

const Captured = z.object({ data: z.object({ id: z.number(), height: z.number() }) });
const Found = z.object({ data: z.array(ListedResultSchema) });
const HTML = `<!doctype html><style>.out{display:none}</style><title>Kept</title><h1>Blue <b>whale</b>s</h1>
  <p class="out">submarine</p><script>torpedo</script><p style="position:absolute;top:400px">Deep  ocean&shy;ic
  trench`;

async function shoot(app: RunningService, outputs: readonly string[] = []) {
  const response = await app.post('/screenshot', { html: HTML, outputs });
  expect(response.status, await response.clone().text()).toBe(200);
  return Captured.parse(await response.json()).data;
}

async function find(app: RunningService, words: string) {
  const response = await app.call(`/results?words=${encodeURIComponent(words)}`);
  expect(response.status).toBe(200);
  return Found.parse(await response.json()).data;
}

type Database =
  | { readonly dbPath: string; readonly mongoUrl: null }
  | { readonly dbPath: null; readonly mongoUrl: string };

/** Starts a service, and returns it with `capstan db` for its places. */
async function started(directory: string, database: Database, indexWords: boolean) {
  const dataDir = join(directory, 'data');
  const app = await startService({ ...database, dataDir, indexWords, maxConcurrent: 1 });
  const named = database.dbPath === null ? ['--mongo-url', database.mongoUrl] : ['--db-path', database.dbPath];
  const place = await ground();
  const db = (command: string) => capstan(['db', command, ...named, '--data-dir', dataDir], place.options);
  return { app, db };
}

function suite(databaseIn: (directory: string) => Database): void {
  it('indexes the words of earlier captures from their text or HTML, as far as they were shown', async () => {
    const directory = await makeDirectory();
    const { app, db } = await started(directory, databaseIn(directory), false);
    try {
      const plain = await shoot(app);
      const withText = await shoot(app, ['text']);
      const withoutMap = Captured.parse(
        await (await app.post('/screenshot', { html: HTML, elementMap: false })).json(),
      );
      expect(await find(app, 'whales')).toEqual([]);
      expect(await db('index')).toMatchObject({ code: 0, stdout: 'words of 3 captures indexed\n' });
      const ids = [withoutMap.data.id, withText.id, plain.id];
      expect((await find(app, '"blue whales" oceanic')).map(({ id }) => id)).toEqual(ids);
      expect(await find(app, 'torpedo')).toEqual([]);
      // Nothing but the element map says what a style sheet hides.
      expect((await find(app, 'submarine')).map(({ id }) => id)).toEqual([withoutMap.data.id]);
      for (const { id, snippets } of await find(app, '"oceanic trench"')) {
        const tops = snippets?.flatMap(({ boxes }) => boxes.map(({ y }) => y)) ?? [];
        if (id === withoutMap.data.id) expect(tops).toEqual([]);
        else expect(tops.every((top) => top >= 390 && top < 450) && tops.length > 0).toBe(true);
      }
      expect(await db('index')).toMatchObject({ code: 0, stdout: 'words of 0 captures indexed\n' });
      expect(await db('check')).toMatchObject({ code: 0 });
    } finally {
      await app.stop();
    }
  });

  it('finds words that the index lacks, and restores them from the files', async () => {
    const directory = await makeDirectory();
    const { app, db } = await started(directory, databaseIn(directory), true);
    try {
      const { id } = await shoot(app);
      const record = await app.service.results.get(id);
      if (record === undefined) throw new Error('there is no record');
      const { evidence: _, ...result } = record;
      await app.service.results.delete([id]);
      expect(await db('rebuild')).toMatchObject({ code: 0 });
      expect((await find(app, '"blue whales"')).map((each) => each.id)).toEqual([id]);
      await app.service.results.delete([id]);
      await app.service.results.insert(result);
      expect(await find(app, 'whales')).toEqual([]);
      const check = await db('check');
      expect(check.code).toBe(1);
      expect(check.stdout).toContain(`capture ${id}: its words are not indexed; run \`capstan db index\``);
      expect(await db('index')).toMatchObject({ code: 0, stdout: 'words of 1 captures indexed\n' });
      expect((await find(app, '"blue whales"')).map((each) => each.id)).toEqual([id]);
      expect(await db('check')).toMatchObject({ code: 0 });
      expect(await app.service.results.addWords(id, packWords({ text: '', places: [] }))).toBe(false);
    } finally {
      await app.stop();
    }
  });
}

describe('capstan db index, with SQLite', () =>
  suite((directory) => ({ dbPath: join(directory, 'results.db'), mongoUrl: null })));

describeWithSharedMongo('capstan db index, with MongoDB', (url) => {
  let databases = 0;
  suite(() => {
    databases += 1;
    return { dbPath: null, mongoUrl: `${url()}index${databases}` };
  });
});
