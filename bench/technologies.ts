import { execFile } from 'node:child_process';
import { globSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { SoftwareSigns, Technology } from '../src/capture/host-facts.ts';
import { createTargetPolicy } from '../src/egress/address-policy.ts';
import { createEgress } from '../src/egress/create-egress.ts';
import { createTechnologies } from '../src/technologies/technologies.ts';
import { startActor } from '../test/support/actor.ts';
import { captureRequest } from '../test/support/capture-request.ts';
import type { BenchOptions } from './support/bench.ts';
import { DEMOS, MARKS } from './support/demos.ts';
import { serveFolders } from './support/serve-folders.ts';
import { atLeast, type Finding, formatTable } from './support/table.ts';

const run = promisify(execFile);
const AT_ONCE = 3;
/** Maximum number of pages of a package. */
const PAGES_OF_PACKAGE = 10;

/**
 * Captures demo pages that packages of npm bring, and compares the software that is named with the banners of the scripts
 * that each page has loaded. Nothing but npm is asked over the network.
 */
export async function technologies({ browserPath, print, report }: BenchOptions): Promise<readonly Finding[]> {
  const folder = await mkdtemp(join(tmpdir(), 'capstan-demos-'));
  const lookup = () => Promise.reject(Object.assign(new Error('no name is resolved'), { code: 'ENOTFOUND' }));
  const egress = createEgress({ lookup, policy: createTargetPolicy({ allow: ['127.0.0.1'], deny: [] }) });
  const { actor, stop } = await startActor({ egress, slots: AT_ONCE, browserPath, warn: report });
  const { find } = createTechnologies();
  try {
    const pages = (await Promise.all(DEMOS.map((demo) => pagesOf(folder, demo)))).flat();
    const folders = Object.fromEntries(DEMOS.map((demo) => [nameOf(demo), join(folder, nameOf(demo))]));
    await using site = await serveFolders(folders);
    const totals = { plain: noCount(), libraries: noCount() };
    const waiting = [...pages];
    const capture = async () => {
      for (let path = waiting.shift(); path !== undefined; path = waiting.shift()) {
        const request = captureRequest(site.origin + path, { evidence: ['libraries', 'network'], timeoutMs: 20_000 });
        const snapshot = await actor.capture(request, new AbortController().signal).catch(() => undefined);
        if (snapshot === undefined) continue;
        const loaded = (snapshot.evidence.network?.items ?? []).flatMap(({ url, status }) =>
          status === 200 && url.startsWith(site.origin) ? new URL(url).pathname : [],
        );
        // Scripts of other hosts do not load here, so nothing is known of them.
        const scripts = snapshot.softwareSigns.scripts.filter((url) => loaded.includes(new URL(url).pathname));
        const signs = { ...snapshot.softwareSigns, scripts };
        const known = await softwareOf(folder, loaded, signs);
        for (const [way, seen] of [
          ['plain', await find({ ...signs, libraries: [] })],
          ['libraries', await find(signs)],
        ] as const) {
          const wrong = count(totals[way], seen, known);
          for (const problem of wrong) report(`technologies (${way}): ${path} ${problem}`);
        }
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, capture));
    const rows = Object.entries(totals).map(
      ([way, { right, wrong, missed, versions, wrongVersions, pages: number }]) => ({
        way,
        number,
        right,
        wrong,
        missed,
        precision: right / (right + wrong),
        recall: right / (right + missed),
        versions: versions / (versions + wrongVersions),
      }),
    );
    print(
      formatTable(
        ['signs', 'pages', 'right', 'wrong', 'missed', 'precision', 'recall', 'versions right'],
        rows.map(({ way, number, right, wrong, missed, precision, recall, versions }) => [
          way,
          ...[number, right, wrong, missed].map(String),
          ...[precision, recall, versions].map((share) => share.toFixed(3)),
        ]),
      ),
    );
    return rows.map(({ way, number, precision }) =>
      atLeast(`technologies on ${number} pages: precision, ${way}`, precision, 0.98, { digits: 3 }),
    );
  } finally {
    await stop();
    await egress.close();
    await rm(folder, { recursive: true, force: true });
  }
}

function noCount() {
  return { pages: 0, right: 0, wrong: 0, missed: 0, versions: 0, wrongVersions: 0 };
}

/** Adds a page to a count. Returns what is wrong. */
function count(
  total: ReturnType<typeof noCount>,
  seen: readonly Technology[],
  known: ReadonlyMap<string, string>,
): readonly string[] {
  const wrong = seen.filter(({ name }) => !known.has(name));
  total.pages += 1;
  total.right += seen.length - wrong.length;
  total.wrong += wrong.length;
  const named = new Set(seen.map(({ name }) => name));
  const missed = [...known.keys()].filter((name) => !named.has(name));
  total.missed += missed.length;
  const problems = missed.map((name) => `does not name ${name}`);
  for (const { name, version } of seen) {
    const right = known.get(name) ?? '';
    if (version === '' || right === '') continue;
    if (right === version || right.startsWith(`${version}.`)) total.versions += 1;
    else {
      total.wrongVersions += 1;
      problems.push(`has ${name} ${right}, not ${version}`);
    }
  }
  return [...problems, ...wrong.map(({ name, version, sign }) => `names ${name} ${version} (${sign})`)];
}

/** Unpacks a package, and returns the paths of some of its pages. */
async function pagesOf(folder: string, demo: string): Promise<readonly string[]> {
  const directory = join(folder, nameOf(demo));
  await mkdir(directory);
  const { stdout } = await run('npm', ['pack', '--silent', demo], { cwd: directory });
  await run('tar', ['xzf', stdout.trim(), '--strip-components=1'], { cwd: directory });
  const pages = globSync('**/*.html', {
    cwd: directory,
    exclude: (path) => /node_modules|tests?\b|spec\b/i.test(String(path)),
  });
  const every = Math.max(1, Math.floor(pages.length / PAGES_OF_PACKAGE));
  return pages
    .toSorted()
    .filter((_, at) => at % every === 0)
    .slice(0, PAGES_OF_PACKAGE)
    .map((path) => `/${nameOf(demo)}/${path}`);
}

/** The name of the folder of a package. */
const nameOf = (demo: string): string => demo.replaceAll(/[@/]/g, '_');

/** Returns the software of a page by the banners of the scripts that it has loaded, with versions; and by its generator. */
async function softwareOf(
  folder: string,
  paths: readonly string[],
  { metas }: SoftwareSigns,
): Promise<ReadonlyMap<string, string>> {
  const known = new Map<string, string>();
  for (const path of new Set(paths)) {
    if (!/\.m?js$/.test(path)) continue;
    const source = await readFile(join(folder, decodeURIComponent(path)), 'utf8').catch(() => '');
    for (const [name, mark] of Object.entries(MARKS)) {
      const found = mark.exec(source);
      if (found === null || (known.get(name) ?? '') !== '') continue;
      known.set(name, found.slice(1).find((version) => version !== undefined) ?? '');
    }
  }
  for (const { name, value } of metas) {
    const [, product = '', version = ''] = /^(\S+(?: [A-Z]\S+)?)(?: v?(\d\S*))?/.exec(value) ?? [];
    if (name === 'generator' && product !== '') known.set(product, version);
  }
  return known;
}
