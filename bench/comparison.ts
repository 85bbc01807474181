import { createReadStream } from 'node:fs';
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { NEVER } from 'rxjs';
import sharp from 'sharp';
import { z } from 'zod';
import { ComparisonSchema } from '../src/capture/comparison.ts';
import type { ScreenshotInfo } from '../src/capture/screenshot-info.ts';
import { createComparisons } from '../src/imaging/comparisons.ts';
import { resultOf } from '../test/http/stored-capture.ts';
import type { BenchOptions } from './support/bench.ts';
import { type ComparisonCase, capture, isAsExpected, makeCases } from './support/comparison-cases.ts';
import { MUTATIONS } from './support/mutations.ts';
import { type ServiceProcess, startServiceProcess } from './support/service-process.ts';
import { median } from './support/statistics.ts';
import { type Finding, formatTable } from './support/table.ts';

const LEAST_OVERLAP = 0.8;
const RECAPTURES = 200;

const answer = z.object({ data: ComparisonSchema });

/**
 * Makes one change to each of 60 pages, and counts those for which `GET /compare` reports exactly the expected regions;
 * recaptures unchanged pages; and measures how long comparisons take. `--pages`: a folder of pages,
 * `html/<name>.html.gz`, beside the documentation of Debian.
 */
export async function comparison(options: BenchOptions): Promise<readonly Finding[]> {
  const { browserPath, pagesFolder, captures: count, print, report } = options;
  const service = await startServiceProcess({ browserPath });
  try {
    const { cases, close } = await makeCases(service, { browserPath, pagesFolder, count }, report);
    try {
      const right = await judged(service, cases, report);
      print(
        formatTable(
          ['change', 'pages', 'as caused'],
          MUTATIONS.map((kind) => {
            const own = cases.filter((each) => each.kind === kind);
            return [kind, String(own.length), String(own.filter((each) => right.has(each)).length)];
          }),
        ),
      );
      const alarms = await recaptured(service, cases, report);
      return [
        share('regions exactly as caused', right.size, cases.length, 0.95),
        share('recaptures without an alarm', RECAPTURES - alarms, RECAPTURES, 1),
        ...(await times()),
      ];
    } finally {
      close();
    }
  } finally {
    await service.stop();
  }
}

function share(what: string, some: number, all: number, target: number): Finding {
  return {
    what: `comparison: ${what}`,
    figure: `${some} of ${all}`,
    target: String(target),
    met: some >= all * target,
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
    if (isAsExpected(regions, each.expected, LEAST_OVERLAP)) right.add(each);
    else {
      const found = regions.slice(0, 5).map(({ kind, from, to }) => JSON.stringify({ kind, from, to }));
      report(
        `comparison: ${each.kind} ${each.source}: wanted ${JSON.stringify(each.expected)}, found ${found.join(' ')}`,
      );
    }
  }
  return right;
}

/** Captures changed pages again, and returns how often something differs. */
async function recaptured(
  service: ServiceProcess,
  cases: readonly ComparisonCase[],
  report: BenchOptions['report'],
): Promise<number> {
  let alarms = 0;
  for (let at = 0; at < RECAPTURES; at += 1) {
    const { url, b, source } = cases[at % cases.length] ?? {};
    if (url === undefined || b === undefined) break;
    const { regions } = await compared(service, b, await capture(service, url));
    if (regions.length === 0) continue;
    alarms += 1;
    report(`comparison: ${source} captured again: ${JSON.stringify(regions.slice(0, 3))}`);
  }
  return alarms;
}

async function compared(service: ServiceProcess, a: number, b: number) {
  const response = await fetch(`${service.origin}/compare?a=${a}&b=${b}`);
  const body = await response.text();
  if (response.status !== 200) throw new Error(`${response.status} ${body.slice(0, 300)}`);
  return answer.parse(JSON.parse(body)).data;
}

const TIMES = 7;
/** Maximum time of a comparison, and of one turn of the event loop meanwhile, in milliseconds. */
const SIZES = [
  { height: 720, target: 60 },
  { height: 16_384, target: 600 },
] as const;
const MAX_HOLD_MS = 10;

/** Compares images of text-like noise with a banner at the top and a changed line, in this process. */
async function times(): Promise<readonly Finding[]> {
  const findings: Finding[] = [];
  const folder = await mkdtemp(join(tmpdir(), 'capstan-bench-'));
  for (const { height, target } of SIZES) {
    const files = [join(folder, `${height}-a.png`), join(folder, `${height}-b.png`)];
    for (const [at, file] of files.entries()) await writeFile(file, await picture(height, at * 40));
    const [before, after] = [infoOf(0, height), infoOf(1, height)];
    const comparisons = createComparisons({
      open: async (id, kind) => {
        const file = kind === 'image' ? files[id] : undefined;
        if (file === undefined) return undefined;
        const { size } = await stat(file);
        return { info: infoOf(id, height), bytes: size, stream: () => createReadStream(file), close: async () => {} };
      },
      record: async (id) => ({ ...resultOf(id), evidence: null }),
    });
    const compare = () => comparisons.of(before, after, NEVER, null);
    await compare();
    const hold = watchLoop();
    const taken: number[] = [];
    const spentBefore = process.cpuUsage();
    for (let round = 0; round < TIMES; round += 1) {
      const begun = performance.now();
      await compare();
      taken.push(performance.now() - begun);
    }
    const held = hold.end();
    const ms = median(taken);
    const used = process.cpuUsage(spentBefore);
    const cpu = (used.user + used.system) / 1000 / TIMES;
    const size = `1280 x ${height}`;
    findings.push(
      {
        what: `comparison of ${size}`,
        figure: `${ms.toFixed(0)} ms (${cpu.toFixed(0)} ms of CPU)`,
        target: `${target} ms`,
        met: ms < target,
      },
      {
        what: `comparison of ${size}: longest hold of the event loop`,
        figure: `${held.toFixed(1)} ms`,
        target: `${MAX_HOLD_MS} ms`,
        met: held <= MAX_HOLD_MS,
      },
    );
  }
  await rm(folder, { recursive: true, force: true });
  return findings;
}

function infoOf(id: number, height: number): ScreenshotInfo {
  const unknown = { url: '', host: '', title: '', sha256: '', captured_at: '' };
  return { id, ...unknown, format: 'png', width: 1280, height, bytes: 0 };
}

/** Lines of words, with a banner of this height above them. */
async function picture(height: number, banner: number): Promise<Buffer> {
  const lines = Array.from({ length: Math.ceil(height / 20) }, (_, at) => {
    const words = Array.from({ length: 14 }, (_, word) => ((at * 7919 + word * 104_729) % 9973).toString(36)).join(' ');
    return `<text x="40" y="${banner + at * 20 + 16}">${at === 9 && banner > 0 ? 'Changed' : words}</text>`;
  });
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="1280" height="${height}" font-family="sans-serif" font-size="16"><rect width="1280" height="${height}" fill="#fff"/><rect width="1280" height="${banner}" fill="#124"/>${lines.join('')}</svg>`;
  return sharp(Buffer.from(svg), { limitInputPixels: false, unlimited: true }).png({ compressionLevel: 1 }).toBuffer();
}

/** Measures the longest turn of the event loop, in CPU time of its thread, so that other programs do not count. */
function watchLoop() {
  const spent = () => {
    const { user, system } = process.threadCpuUsage();
    return (user + system) / 1000;
  };
  let [last, longest, isOver] = [spent(), 0, false];
  const turn = () => {
    const now = spent();
    longest = Math.max(longest, now - last);
    last = now;
    if (!isOver) setImmediate(turn);
  };
  setImmediate(turn);
  return {
    end: () => {
      isOver = true;
      return longest;
    },
  };
}
