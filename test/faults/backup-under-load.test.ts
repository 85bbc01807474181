import { expect, it } from 'vitest';
import { capstan, ground, serve } from '../commands/capstan-process.ts';
import { siteForSuite } from '../support/for-suite.ts';
import { type AnsweredResult, allResults, captureBatch } from './client.ts';

const site = siteForSuite();
const PLACES = ['--db-path', 'results.db', '--data-dir', 'data'];

it('backs up the database of a service that is capturing, with every capture that was answered before', async () => {
  const place = await ground();
  const flags = ['--allow-targets', '127.0.0.1', '--max-concurrent', '2', ...PLACES];
  const service = await serve(flags, place.options);
  const answered: AnsweredResult[] = [];
  let isDone = false;
  const began = Promise.withResolvers<void>();
  const load = (async () => {
    // Failed captures have no files: their records are commits and nothing else.
    const urls = [...Array(2).fill(site.url('/title?t=kept')), ...Array(20).fill('http://127.0.0.1:1/refused')];
    while (!isDone) {
      const items = await captureBatch(service.url, urls, 22);
      answered.push(...items.flatMap(({ result }) => (result === null ? [] : [result])));
      began.resolve();
    }
  })();
  await began.promise;
  const before = [...answered];
  expect(await capstan(['db', 'backup', 'copy.db', ...PLACES], place.options)).toMatchObject({ code: 0 });
  isDone = true;
  await load;
  service.child.kill('SIGTERM');
  expect(await service.ended).toMatchObject({ code: 0 });
  expect(answered.length).toBeGreaterThan(before.length);

  expect(await capstan(['db', 'restore', 'copy.db', ...PLACES], place.options)).toMatchObject({ code: 0 });
  const restored = await serve([...PLACES, '--browser-path', '/nonexistent/chromium'], place.options);
  const records = new Map((await allResults(restored.url)).map((record) => [record.id, record]));
  expect(before.map(({ id }) => records.get(id))).toEqual(before);
  restored.child.kill('SIGTERM');
  await restored.ended;
  // Captures that were newer have files and no record, as the documentation of `db restore` says.
  expect(await capstan(['db', 'rebuild', ...PLACES], place.options)).toMatchObject({ code: 0 });
  expect(await capstan(['db', 'check', '--contents', ...PLACES], place.options)).toMatchObject({ code: 0 });
});
