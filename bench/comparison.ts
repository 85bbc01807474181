import { errorText } from '../src/capture/basics/error-text.ts';
import { MAX_COMPARED_PIXELS } from '../src/capture/comparison/comparison.ts';
import type { BenchOptions } from './support/bench.ts';
import { openPages } from './support/compared-pages.ts';
import { type ComparisonCase, capture, compared, isAsExpected, makeCases } from './support/comparison-cases.ts';
import { MUTATIONS, type Mutation } from './support/mutations.ts';
import { type ServiceProcess, startServiceProcess } from './support/service-process.ts';
import { atLeast, type Finding, formatTable } from './support/table.ts';

const MIN_OVERLAP = 0.8;
/** Number of captures of each set without a change, and how often a page is captured again. */
const RECAPTURES = 100;
const TIMES_EACH = 2;
/** The comparison was made with pages of the first set, and measured with the second. */
const SETS = ['pages that it was made with', 'other pages'] as const;

const NAMES: Readonly<Record<Mutation, string>> = {
  banner: 'a banner is inserted',
  remove: 'a block is removed',
  move: 'a block is moved',
  recolour: 'a block is recoloured',
  word: 'a word is changed',
  swap: 'two list items are swapped',
};

/**
 * Makes one change to each of 60 pages, and counts those for which `GET /compare` reports exactly the expected regions;
 * does this again with other pages; and captures pages again without a change.
 * `--pages`: a folder of pages, `html/<name>.html.gz`, beside the documentation of Debian.
 */
export async function comparison(options: BenchOptions): Promise<readonly Finding[]> {
  const { browserPath, pagesFolder, captures: count, print, report } = options;
  await using service = await startServiceProcess({ browserPath });
  const findings: Finding[] = [];
  const rows = MUTATIONS.map((kind) => [NAMES[kind]]);
  const still: boolean[] = [];
  for (const set of [0, 1] as const) {
    await using opened = new AsyncDisposableStack();
    const pages = await openPages(pagesFolder, { count, set }, opened);
    const cases = await makeCases(service, pages.urls, set, options);
    const right = await judged(service, cases, report);
    for (const [at, kind] of MUTATIONS.entries()) {
      const own = cases.filter((each) => each.kind === kind);
      rows[at]?.push(`${own.filter((each) => right.has(each)).length} of ${own.length}`);
    }
    findings.push(share(`regions exactly as caused, ${SETS[set]}`, right.size, cases.length, 0.95));
    still.push(...(await recaptured(service, pages.documentation, report)));
  }
  print(formatTable(['change', ...SETS], rows));
  return [...findings, share('recaptures without an alarm', still.filter(Boolean).length, still.length, 1)];
}

const share = (what: string, some: number, all: number, target: number): Finding =>
  atLeast(`comparison: ${what}, of ${all}`, some / all, target, { digits: 3 });

/** Returns the cases whose regions are as expected. */
async function judged(
  service: ServiceProcess,
  cases: readonly ComparisonCase[],
  report: BenchOptions['report'],
): Promise<ReadonlySet<ComparisonCase>> {
  const right = new Set<ComparisonCase>();
  for (const each of cases) {
    const { regions } = await compared(service, each.a, each.b);
    if (isAsExpected(regions, each.expected, MIN_OVERLAP)) right.add(each);
    else {
      const found = JSON.stringify(regions.slice(0, 5).map(({ kind, from, to }) => ({ kind, from, to })));
      report(`comparison: ${each.kind} ${each.source}: wanted ${JSON.stringify(each.expected)}, found ${found}`);
    }
  }
  return right;
}

/**
 * Captures pages as they are, twice more each, and returns for each of these captures whether nothing differs from the
 * first one. A page that cannot be captured whole, as on a busy machine, is reported, and the next one takes its place.
 */
async function recaptured(
  service: ServiceProcess,
  urls: readonly string[],
  report: BenchOptions['report'],
): Promise<readonly boolean[]> {
  const still: boolean[] = [];
  for (const url of urls) {
    try {
      const first = await capture(service, url);
      if (first.area > MAX_COMPARED_PIXELS) continue;
      for (let time = 0; time < TIMES_EACH && still.length < RECAPTURES; time += 1) {
        const { regions } = await compared(service, first.id, (await capture(service, url)).id);
        still.push(regions.length === 0);
        if (regions.length > 0) report(`comparison: ${url} again: ${JSON.stringify(regions.slice(0, 3))}`);
      }
    } catch (error) {
      report(`comparison: ${url} captured again: ${errorText(error)}`);
    }
    if (still.length === RECAPTURES) break;
  }
  return still;
}
