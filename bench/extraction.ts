import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { BenchOptions } from './support/bench.ts';
import { mean, type Score, scoreOf, Truth } from './support/extraction-score.ts';
import { servePages } from './support/serve-pages.ts';
import { startServiceProcess } from './support/service-process.ts';
import { atLeast, atMost, type Finding, formatTable } from './support/table.ts';

const AT_ONCE = 2;

/**
 * Compares the output `markdown` with the known main content of pages: `--pages <folder>` has `html/<id>.html.gz` and
 * `truth/<id>.json` (`type`, `main`, and snippets `with` and `without`).
 */
export async function extraction(options: BenchOptions): Promise<readonly Finding[]> {
  const { browserPath, pagesFolder, print, report } = options;
  if (pagesFolder === undefined) throw new Error('name the folder of the pages: --pages <folder>');
  // The pages were stored without the files that they load. Without those, their scripts would empty some of them.
  await using pages = await servePages(join(pagesFolder, 'html'), { scripts: false });
  await using withScripts = await servePages(join(pagesFolder, 'html'));
  await using service = await startServiceProcess({ browserPath });
  const markdownOf = async (url: string): Promise<string> => {
    try {
      const { id } = await service.capture(url, { outputs: ['markdown'], timeoutMs: 30_000 });
      const answer = await fetch(`${service.origin}/screenshot/${id}?view=markdown`);
      return answer.ok ? await answer.text() : '';
    } catch (error) {
      report(`extraction: ${String(error)}`);
      return '';
    }
  };
  const scores: Score[] = [];
  const waiting = pages.names.values();
  const work = async () => {
    for (const name of waiting) {
      const truth = Truth.parse(JSON.parse(await readFile(join(pagesFolder, 'truth', `${name}.json`), 'utf8')));
      // A few pages paint nothing before their own scripts ran.
      const markdown = (await markdownOf(pages.url(name))) || (await markdownOf(withScripts.url(name)));
      scores.push(scoreOf(plain(markdown), truth));
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));

  const digits = 3;
  const rows: string[][] = [];
  const findings: Finding[] = [];
  for (const kind of ['all', ...new Set(scores.map(({ type }) => type).toSorted())]) {
    const some = scores.filter(({ type }) => kind === 'all' || type === kind);
    const [f1, found, leaks] = [mean(some, 'f1'), mean(some, 'with'), mean(some, 'without')];
    rows.push([kind, String(some.length), ...[f1, found, leaks].map((each) => each.toFixed(digits))]);
    const wanted = kind === 'all' ? 0.89 : /collection|listing/.test(kind) ? 0.7 : 0.8;
    findings.push(atLeast(`F1 of ${kind}`, f1, wanted, { digits }));
    if (kind !== 'all') continue;
    findings.push(atLeast('snippets found', found, 0.87, { digits }), atMost('leaks', leaks, 0.09, { digits }));
  }
  print(formatTable(['pages', 'number', 'F1', 'with', 'leaks'], rows));
  return findings;
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
