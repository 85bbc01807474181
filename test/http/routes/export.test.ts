import { beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { serviceForSuite } from '../../support/for-suite.ts';
import { NO_BROWSER } from '../../support/service.ts';
import { resultOf } from '../stored-capture.ts';

const app = serviceForSuite(NO_BROWSER);

const TOTAL = 1200;
const HOSTILE: Readonly<Record<number, string>> = {
  1: '=cmd|"/c calc"!A0',
  2: '+1+1',
  3: '-2+3',
  4: '@SUM(A1)',
  5: '\t=1',
  6: 'a "quoted", divided\r\ntitle',
  7: '<script>alert(1)</script>',
  8: ' =1+1',
  9: '＝1+1',
};

beforeAll(async () => {
  const insert = (id: number) =>
    app.service.results.insert(
      resultOf(id, {
        title: HOSTILE[id] ?? `Title ${id}`,
        host: id % 2 === 0 ? 'even.example' : 'odd.example',
        url: `https://${id % 2 === 0 ? 'even' : 'odd'}.example/`,
        response_code: id % 10 === 0 ? 404 : 200,
      }),
    );
  for (let from = 1; from <= TOTAL; from += 100) {
    await Promise.all(Array.from({ length: 100 }, (_, offset) => insert(from + offset)));
  }
});

const Line = z.looseObject({ id: z.number(), title: z.string(), screenshot: z.string() });

async function linesOf(query: string): Promise<readonly z.output<typeof Line>[]> {
  const response = await app.call(`/results/export${query}`);
  expect(response.status).toBe(200);
  const lines = (await response.text()).split('\n');
  expect(lines.pop()).toBe('');
  return lines.map((line) => Line.parse(JSON.parse(line)));
}

/** Parses CSV as RFC 4180 defines it. */
function readCsv(text: string): readonly (readonly string[])[] {
  const cells = [...text.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/g)];
  const rows: string[][] = [[]];
  for (const [, quoted, plain, end] of cells) {
    rows.at(-1)?.push(quoted?.replaceAll('""', '"') ?? plain ?? '');
    if (end !== ',') rows.push([]);
  }
  return rows.slice(0, -1);
}

describe('GET /results/export', () => {
  it('sends every result as a line of JSON, newest first, like the lists', async () => {
    const response = await app.call('/results/export');
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'application/x-ndjson',
      'content-disposition': 'attachment; filename="results.jsonl"',
    });
    await response.arrayBuffer();
    const lines = await linesOf('?format=jsonl');
    expect(lines.map(({ id }) => id)).toEqual(Array.from({ length: TOTAL }, (_, index) => TOTAL - index));
    const listed = z.object({ data: z.array(z.unknown()) }).parse(await (await app.call('/results?limit=1')).json());
    expect(lines[0]).toEqual(listed.data[0]);
  });

  it.each([
    ['?status=404', 120],
    ['?host=even.example', 600],
    ['?host=odd.example&status=4xx', 0],
    ['?url=https://odd.example/&status=200', 600],
    ['?text=title%20777', 1],
    [`?from=${resultOf(1101).probed_at}`, 100],
  ])('exports for %s the same results as the list with these conditions', async (query, count) => {
    expect(await linesOf(query)).toHaveLength(count);
    expect((await app.call(`/results/export${query}&format=csv`)).status).toBe(200);
  });

  it('sends CSV with a header line, and escapes texts that look like formulas', async () => {
    const response = await app.call('/results/export?format=csv');
    expect(response.headers.get('Content-Type')).toBe('text/csv; charset=utf-8');
    expect(response.headers.get('Content-Disposition')).toBe('attachment; filename="results.csv"');
    const [names = [], ...rows] = readCsv(await response.text());
    expect(rows).toHaveLength(TOTAL);
    expect(names).toEqual(expect.arrayContaining(['id', 'url', 'title', 'probed_at', 'screenshot']));
    const titleOf = (id: number) =>
      rows.find((row) => row[names.indexOf('id')] === String(id))?.[names.indexOf('title')];
    expect([1, 2, 3, 4, 5].map(titleOf)).toEqual([1, 2, 3, 4, 5].map((id) => `'${HOSTILE[id]}`));
    // Some spreadsheets skip blanks, and read full-width signs likewise.
    expect([8, 9].map(titleOf)).toEqual([8, 9].map((id) => `'${HOSTILE[id]}`));
    expect([6, 7].map(titleOf)).toEqual([HOSTILE[6], HOSTILE[7]]);
    for (const row of rows) {
      expect(row).toHaveLength(names.length);
      for (const cell of row) expect(cell).not.toMatch(/^[=+\-@\t\r]/);
    }
  });

  it.each([
    ['', 'application/json', false],
    ['', 'text/html,application/xhtml+xml,*/*;q=0.8', true],
    ['&bom=true', '*/*', true],
    ['&bom=false', 'text/html', false],
  ])(
    'begins CSV with a byte order mark when asked to, or when a browser follows a link: %s %s',
    async (query, accept, marked) => {
      const response = await app.call(`/results/export?format=csv&status=418${query}`, { headers: { Accept: accept } });
      const bytes = Buffer.from(await response.arrayBuffer());
      expect(bytes.subarray(0, 3).equals(Buffer.from('\ufeff'))).toBe(marked);
      expect(bytes.toString()).toMatch(/^\ufeff?id,/);
    },
  );

  it('sends only the header line when there are no results', async () => {
    const text = await (await app.call('/results/export?format=csv&status=418')).text();
    expect(readCsv(text)).toHaveLength(1);
    expect(await linesOf('?status=418')).toEqual([]);
  });

  it.each([
    ['?format=xml', 'format'],
    ['?host=a&url=b', 'url'],
    ['?status=x', 'status'],
    ['?limit=1', 'limit'],
  ])('answers 400 to %s and names the field', async (query, path) => {
    const response = await app.call(`/results/export${query}`);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ data: { problems: [{ path }] } });
  });
});
