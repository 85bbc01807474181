import type { BenchOptions } from './support/bench.ts';
import type { Contender } from './support/contender.ts';
import { interleavedRounds, type Round } from './support/rounds.ts';
import { startServiceProcess } from './support/service-process.ts';
import { startBenchSite } from './support/site.ts';
import { median } from './support/statistics.ts';
import type { Finding } from './support/table.ts';
import { ratioFinding, seriesTable } from './throughput.ts';

const ELEMENTS = 100;
const LEAST = 1.25;
const ALONE = 'a batch with a context for each element';

/** A batch of 100 pages of one site that share 24 files, with `isolation: "batch"` and without. */
export async function sharedPages(options: BenchOptions): Promise<readonly Finding[]> {
  const { browserPath } = options;
  const site = await startBenchSite();
  try {
    const series = await interleavedRounds(
      [
        batchContender('the same with isolation: batch', browserPath, { isolation: 'batch' }),
        batchContender(ALONE, browserPath, {}),
      ],
      { ...options, urls: site.urls(ELEMENTS, 'articles') },
    );
    options.print(seriesTable(series));
    return [ratioFinding(series, ALONE, LEAST), cpuFinding(series.map(({ rounds }) => rounds))];
  } finally {
    await site.stop();
  }
}

/** The CPU time of the second contender as a multiple of the first one's. */
function cpuFinding([shared = [], alone = []]: readonly (readonly Round[])[]): Finding {
  const ratio = median(
    shared.map(
      ({ cpuSecondsPerCapture }, round) => (alone[round]?.cpuSecondsPerCapture ?? Number.NaN) / cpuSecondsPerCapture,
    ),
  );
  return {
    what: 'captures of a CPU second, of it',
    figure: ratio.toFixed(2),
    target: `>= ${LEAST}`,
    met: ratio >= LEAST,
  };
}

/** The whole service, sent one batch of lines in each round. */
function batchContender(name: string, browserPath: string, capture: Readonly<Record<string, unknown>>): Contender {
  return {
    name,
    async start() {
      const service = await startServiceProcess({ browserPath });
      return {
        pid: service.pid,
        async run(urls, concurrency) {
          const before = await service.artifactBytes();
          const response = await fetch(`${service.origin}/batch?concurrency=${concurrency}`, {
            method: 'POST',
            headers: { 'content-type': 'application/x-ndjson' },
            body: urls.map((url) => JSON.stringify({ url, ...capture })).join('\n'),
          });
          const lines = (await response.text()).trim().split('\n');
          const failed = lines.find((line) => !line.includes('"failed":false'));
          if (failed !== undefined || lines.length !== urls.length) throw new Error(`capstan answered ${failed}`);
          const after = await service.artifactBytes();
          return {
            captures: urls.length,
            imageBytes: after.images - before.images,
            htmlCharacters: after.htmlCopies - before.htmlCopies,
          };
        },
        stop: () => service.stop(),
      };
    },
  };
}
