import { MAX_COMPARED_PIXELS } from '../src/capture/comparison/comparison.ts';
import type { BenchOptions } from './support/bench.ts';
import {
  type ComparisonCase,
  capture,
  compared,
  isAsExpected,
  makeCases,
  openPages,
} from './support/comparison-cases.ts';
import { MUTATIONS, type Mutation } from './support/mutations.ts';
import { type ServiceProcess, startServiceProcess } from './support/service-process.ts';
import { type Finding, formatTable } from './support/table.ts';

const MIN_OVERLAP = 0.8;
/** Number of captures without a change, and how often a page is captured again. */
const RECAPTURES = 200;
const TIMES_EACH = 2;
/** The comparison was made with pages of the first set, and measured with the second. */
const SETS = [
  { name: 'pages that it was made with', set: 0 },
  { name: 'other pages', set: 1 },
] as const;

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
  const service = await startServiceProcess({ browserPath });
  try {
    const findings: Finding[] = [];
    const columns: string[][] = [];
    let [still, all] = [0, 0];
    for (const { name, set } of SETS) {
      await using pages = await openPages(pagesFolder, { count, set });
      const cases = await makeCases(service, { browserPath, urls: pages.urls, count, from: set }, report);
      const right = await judged(service, cases, report);
      columns.push(
        MUTATIONS.map((kind) => {
          const own = cases.filter((each) => each.kind === kind);
          return `${own.filter((each) => right.has(each)).length} of ${own.length}`;
        }),
      );
      findings.push(share(`regions exactly as caused, ${name}`, right.size, cases.length, 0.95));
      const again = await recaptured(service, pages.documentation, RECAPTURES / SETS.length, report);
      [still, all] = [still + again.still, all + again.all];
    }
    print(
      formatTable(
        ['change', ...SETS.map(({ name }) => name)],
        MUTATIONS.map((kind, at) => [NAMES[kind], ...columns.map((column) => column[at] ?? '')]),
      ),
    );
    findings.push(share('recaptures without an alarm', still, all, 1));
    return findings;
  } finally {
    await service.stop();
  }
}

function share(what: string, some: number, all: number, target: number): Finding {
  return {
    what: `comparison: ${what}`,
    figure: `${some} of ${all}`,
    target: String(target),
    met: all > 0 && some >= all * target,
  };
}

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
      const found = regions.slice(0, 5).map(({ kind, from, to }) => JSON.stringify({ kind, from, to }));
      report(
        `comparison: ${each.kind} ${each.source}: wanted ${JSON.stringify(each.expected)}, found ${found.join(' ')}`,
      );
    }
  }
  return right;
}

/**
 * Captures pages as they are, twice more each, and returns how often nothing differs from the first capture. A page
 * that cannot be captured whole, as on a busy machine, is reported, and the next one takes its place.
 */
async function recaptured(
  service: ServiceProcess,
  urls: readonly string[],
  count: number,
  report: BenchOptions['report'],
): Promise<{ readonly still: number; readonly all: number }> {
  let [still, all] = [0, 0];
  for (const url of urls) {
    try {
      const first = await capture(service, url);
      if (first.width * first.height > MAX_COMPARED_PIXELS) continue;
      for (let time = 0; time < TIMES_EACH && all < count; time += 1) {
        const again = await capture(service, url);
        const { regions } = await compared(service, first.id, again.id);
        all += 1;
        if (regions.length === 0) still += 1;
        else report(`comparison: ${url} captured again: ${JSON.stringify(regions.slice(0, 3))}`);
      }
    } catch (error) {
      report(`comparison: ${url} captured again: ${error instanceof Error ? error.message : String(error)}`);
    }
    if (all === count) break;
  }
  return { still, all };
}
