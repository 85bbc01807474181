import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import type { BenchOptions } from './support/bench.ts';
import { mean, type Score, scoreOf, Truth } from './support/extraction-score.ts';
import { servePages } from './support/serve-pages.ts';
import { startServiceProcess } from './support/service-process.ts';
import { atLeast, atMost, type Finding, formatTable } from './support/table.ts';

const AT_ONCE = 2;

const Answer = z.object({ data: z.object({ id: z.number() }) });

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
  await using pages = await servePages(join(pagesFolder, 'html'), { scripts: false });
  await using withScripts = await servePages(join(pagesFolder, 'html'));
  const service = await startServiceProcess({ browserPath });
  const scores: Score[] = [];
  const markdownOf = async (url: string) => {
    const { status, body } = await service.capture(url, { outputs: ['markdown'], timeoutMs: 30_000 });
    if (status !== 200) report(`extraction: ${url}: ${body.slice(0, 200)}`);
    return status === 200 ? storedMarkdown(service.origin, body) : '';
  };
  try {
    const waiting = [...pages.names];
    const work = async () => {
      for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
        const truth = Truth.parse(JSON.parse(await readFile(join(pagesFolder, 'truth', `${name}.json`), 'utf8')));
        // A few pages paint nothing before their own scripts ran.
        const markdown = (await markdownOf(pages.url(name))) || (await markdownOf(withScripts.url(name)));
        scores.push(scoreOf(plain(markdown), truth));
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
  } finally {
    await service.stop();
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
    const digits = 3;
    const f1Finding = atLeast(`F1 of ${kind}`, f1, wanted, { digits });
    if (kind !== 'all') return [f1Finding];
    return [f1Finding, atLeast('snippets found', found, 0.87, { digits }), atMost('leaks', leaks, 0.09, { digits })];
  });
}

async function storedMarkdown(origin: string, body: string): Promise<string> {
  const { data } = Answer.parse(JSON.parse(body));
  const answer = await fetch(`${origin}/screenshot/${data.id}?view=markdown`);
  return answer.ok ? answer.text() : '';
}

/** Removes the marks, link targets, table bars and line breaks in cells of Markdown. */
function plain(markdown: string): string {
  return markdown
    .replace(/\]\([^()\s]{0,3000}(?:\([^()\s]{0,500}\)[^()\s]{0,500})?(?: "[^"\n]{0,500}")?\)/g, '')
    .split('\n')
    .filter((line) => line.trim() === '' || /[^|:\- \t]/.test(line))
    .join('\n')
    .replace(/\||<br>/g, ' ')
    .replace(/[\\*`~[\]#>]|__/g, '');
}
