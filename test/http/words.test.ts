import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { packWords } from '../../src/capture/result/page-words.ts';
import { ListedResultSchema } from '../../src/http/answer/schemas.ts';
import { serviceForSuite } from '../support/for-suite.ts';
import { colourAt, pngOf } from '../support/image.ts';
import { resultOf } from './stored-capture.ts';

const Captured = z.object({ data: z.object({ id: z.number(), screenshot: z.string() }) });
const Found = z.object({ data: z.array(ListedResultSchema) });

const app = serviceForSuite({ indexWords: true });

async function shoot(html: string, options: Readonly<Record<string, unknown>> = {}) {
  const response = await app.post('/screenshot', { html: `<!doctype html><title>A page</title>${html}`, ...options });
  expect(response.status, await response.clone().text()).toBe(200);
  return Captured.parse(await response.json()).data;
}

async function find(words: string, path = '/results?limit=100') {
  const response = await app.call(`${path}${path.includes('?') ? '&' : '?'}words=${encodeURIComponent(words)}`);
  expect(response.status, await response.clone().text()).toBe(200);
  return Found.parse(await response.json()).data;
}

const idsOf = async (words: string, path?: string) => (await find(words, path)).map(({ id }) => id);

describe('captures of a service with --index-words', () => {
  it('are found by the words that their pages show, newest first', async () => {
    const first = await shoot('<h1>Zebra crossing</h1><p>The quick brown fox</p>');
    const second = await shoot('<p>A zebra, and <b>quick</b>sand');
    expect(await idsOf('zebra')).toEqual([second.id, first.id]);
    expect(await idsOf('ZEBRA quick')).toEqual([first.id]);
    expect(await idsOf('zebra -fox')).toEqual([second.id]);
    expect(await idsOf('"quick brown fox"')).toEqual([first.id]);
    expect(await idsOf('"brown quick"')).toEqual([]);
    expect(await idsOf('quicks*')).toEqual([second.id]);
    expect(await idsOf('zebra', '/results/by-host?host=html.invalid')).toEqual([second.id, first.id]);
    expect(await idsOf('zebra', '/results/by-url?url=http://html.invalid/')).toEqual([second.id, first.id]);
    expect(await idsOf('zebra', '/results?status=404')).toEqual([]);
    expect(await idsOf('zebra', '/results?status=200&limit=1')).toEqual([second.id]);
  });

  it('are not found by text that is not painted, nor by their titles', async () => {
    await shoot('<p>Walrus</p><p style="display:none">hiddenwalrus</p><p style="color:#fff">whitewalrus</p>');
    expect(await idsOf('walrus')).toHaveLength(1);
    expect(await idsOf('hiddenwalrus')).toEqual([]);
    expect(await idsOf('whitewalrus')).toEqual([]);
    expect(await idsOf('"a page"')).toEqual([]);
  });

  it('come with snippets, and the boxes of the words in the image', async () => {
    const box = 'position:absolute;left:100px;top:200px;background:rgb(0,160,0);font:20px/30px monospace';
    const { id, screenshot } = await shoot(`<p>Something</p><p style="${box}">Giraffe</p>`);
    const [found] = await find('giraffe something');
    expect(found?.id).toBe(id);
    expect(found?.snippets).toHaveLength(1);
    const [snippet] = found?.snippets ?? [];
    expect(snippet?.text).toBe('Something Giraffe');
    expect(snippet?.highlights).toEqual([
      { start: 0, end: 9 },
      { start: 10, end: 17 },
    ]);
    const place = snippet?.boxes[1] ?? { x: 0, y: 0, width: 0, height: 0 };
    const image = await pngOf({ image: Buffer.from(await (await app.call(screenshot)).arrayBuffer()) });
    for (const [x, y] of [
      [place.x + 1, place.y + 1],
      [place.x + place.width - 2, place.y + place.height - 2],
    ] as const) {
      expect(colourAt(image, x, y)).toEqual([0, 160, 0, 255]);
    }
  });

  it('have the box of the line in which a word is, in a text of many lines', async () => {
    const style = 'font:20px/30px monospace;width:400px;position:absolute;left:50px;top:100px;margin:0';
    const { id } = await shoot(
      `<p style="${style}">${'many other words '.repeat(12)} ostrich ${'and more of them '.repeat(12)}</p>`,
    );
    const [found] = await find('ostrich');
    expect(found?.id).toBe(id);
    const [box, ...others] = found?.snippets?.flatMap(({ boxes }) => boxes) ?? [];
    expect(others).toEqual([]);
    expect(box?.height).toBeLessThan(35);
    // A monospace character of this size is 12 pixels wide.
    expect(Math.abs((box?.width ?? 0) - 7 * 12)).toBeLessThan(12);
    expect(box?.y).toBeGreaterThan(150);
  });

  it('are gone from the index when they are removed', async () => {
    const { id } = await shoot('<p>Platypus');
    expect(await idsOf('platypus')).toEqual([id]);
    expect((await app.call(`/screenshot/${id}`, { method: 'DELETE' })).status).toBe(200);
    expect(await idsOf('platypus')).toEqual([]);
    expect(await idsOf('platypus -zebra')).toEqual([]);
  });

  it('are not answered in part when the words for the first of several pages of results cannot be read', async () => {
    const words = packWords({ text: 'Albatross', places: [] });
    for (let id = 1; id <= 101; id += 1) {
      await app.service.results.insert(resultOf(id, { host: 'birds.example' }));
      await app.service.results.addWords(id, words);
    }
    const all = '/results/by-host?host=birds.example';
    expect(await find('albatross', all)).toHaveLength(101);
    using database = new DatabaseSync(join(app.directory, 'results.db'));
    database.exec('ALTER TABLE page_words RENAME TO words_elsewhere');
    try {
      const answer = await app.call(`${all}&words=albatross`);
      expect({ status: answer.status, body: await answer.json() }).toMatchObject({
        status: 500,
        body: { code: 'internal' },
      });
      expect((await app.call(`${all}&words=albatross`, { method: 'HEAD' })).status).toBe(200);
    } finally {
      database.exec('ALTER TABLE words_elsewhere RENAME TO page_words');
    }
  });

  it('are found in events by their words as they are stored, and later', async () => {
    const query = z.object({ data: z.object({ id: z.string() }) });
    const made = query.parse(await (await app.post('/queries', { filter: { words: '"grey heron"' } })).json());
    const { id } = await shoot('<p>A grey heron');
    await shoot('<p>A heron that is grey');
    const read = await (await app.call(`/queries/${made.data.id}/next?wait=10`)).text();
    expect(read).toContain(`"id":${id}`);
    expect(read).not.toContain('"words"');
  });
});
