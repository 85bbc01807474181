import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import type { BenchOptions } from './support/bench.ts';
import { servePages } from './support/serve-pages.ts';
import { startServiceProcess } from './support/service-process.ts';
import { type Finding, formatTable } from './support/table.ts';

const AT_ONCE = 2;

const Truth = z.object({
  type: z.string(),
  main: z.string(),
  with: z.array(z.string()).nullish(),
  without: z.array(z.string()).nullish(),
});

const Answer = z.object({ data: z.object({ id: z.number() }) });

/** Shares from 0 to 1; null for a page that names no snippets. */
interface Score {
  readonly type: string;
  readonly f1: number;
  readonly with: number | null;
  readonly without: number | null;
}

/**
 * Compares the output `markdown` with the known main content of pages: `--pages <folder>` has `html/<id>.html.gz` and
 * `truth/<id>.json` (`type`, `main`, and snippets `with` and `without`).
 */
export async function extraction({
  browserPath,
  pagesFolder,
  print,
  report,
}: BenchOptions): Promise<readonly Finding[]> {
  if (pagesFolder === undefined) throw new Error('name the folder of the pages: --pages <folder>');
  // The pages were stored without the files that they load. Without those, their scripts would empty some of them.
  const pages = await servePages(join(pagesFolder, 'html'), { scripts: false });
  const service = await startServiceProcess({ browserPath });
  const scores: Score[] = [];
  try {
    const waiting = [...pages.names];
    const work = async () => {
      for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
        const { type, ...truth } = Truth.parse(
          JSON.parse(await readFile(join(pagesFolder, 'truth', `${name}.json`), 'utf8')),
        );
        const { status, body } = await service.capture(pages.url(name), { outputs: ['markdown'], timeoutMs: 30_000 });
        if (status !== 200) report(`extraction: ${name}: ${body.slice(0, 200)}`);
        const markdown = status === 200 ? await markdownOf(service.origin, body) : '';
        scores.push({ type, ...score(plain(markdown), truth) });
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
  } finally {
    await service.stop();
    pages.close();
  }
  const kinds = ['all', ...new Set(scores.map(({ type }) => type).toSorted())];
  const rows = kinds.map((kind) => {
    const some = scores.filter(({ type }) => kind === 'all' || type === kind);
    return { kind, pages: some.length, f1: mean(some, 'f1'), with: mean(some, 'with'), leaks: mean(some, 'without') };
  });
  print(
    formatTable(
      ['pages', 'number', 'F1', 'with', 'leaks'],
      rows.map((row) => [row.kind, String(row.pages), ...[row.f1, row.with, row.leaks].map((each) => each.toFixed(3))]),
    ),
  );
  return rows.flatMap(({ kind, f1, with: found, leaks }): readonly Finding[] => {
    const wanted = kind === 'all' ? 0.89 : /collection|listing/.test(kind) ? 0.7 : 0.8;
    const f1Finding = { what: `F1 of ${kind}`, figure: f1.toFixed(3), target: String(wanted), met: f1 >= wanted };
    if (kind !== 'all') return [f1Finding];
    return [
      f1Finding,
      { what: 'snippets found', figure: found.toFixed(3), target: '0.87', met: found >= 0.87 },
      { what: 'leaks', figure: leaks.toFixed(3), target: '0.09', met: leaks <= 0.09 },
    ];
  });
}

async function markdownOf(origin: string, body: string): Promise<string> {
  const { data } = Answer.parse(JSON.parse(body));
  const answer = await fetch(`${origin}/screenshot/${data.id}?view=markdown`);
  return answer.ok ? answer.text() : '';
}

function mean(scores: readonly Score[], of: 'f1' | 'with' | 'without'): number {
  const values = scores.map((each) => each[of]).filter((value) => value !== null);
  return values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);
}

/** Removes the marks, link targets and table bars of Markdown. */
function plain(markdown: string): string {
  return markdown
    .replace(/\]\([^()\s]{0,3000}(?:\([^()\s]{0,500}\)[^()\s]{0,500})?(?: "[^"\n]{0,500}")?\)/g, ' ')
    .split('\n')
    .filter((line) => line.trim() === '' || /[^|:\- \t]/.test(line))
    .join('\n')
    .replaceAll('|', ' ')
    .replace(/[\\*`~[\]#>]|__/g, '');
}

function score(text: string, truth: Omit<z.output<typeof Truth>, 'type'>): Omit<Score, 'type'> {
  const flat = squeezed(text);
  const share = (snippets: readonly string[] | null | undefined) =>
    snippets == null || snippets.length === 0
      ? null
      : snippets.filter((each) => flat.includes(squeezed(each))).length / snippets.length;
  return { f1: wordF1(words(text), words(truth.main)), with: share(truth.with), without: share(truth.without) };
}

function squeezed(text: string): string {
  return text.replace(/\s+/g, ' ').toLowerCase();
}

function words(text: string): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const word of text.toLowerCase().match(/[\p{L}\p{N}_]+/gu) ?? []) counts.set(word, (counts.get(word) ?? 0) + 1);
  return counts;
}

function wordF1(found: ReadonlyMap<string, number>, wanted: ReadonlyMap<string, number>): number {
  const size = (counts: ReadonlyMap<string, number>) => counts.values().reduce((sum, count) => sum + count, 0);
  const common = [...found].reduce((sum, [word, count]) => sum + Math.min(count, wanted.get(word) ?? 0), 0);
  const total = size(found) + size(wanted);
  return total === 0 ? 1 : (2 * common) / total;
}
