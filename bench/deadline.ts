import type { BenchOptions } from './support/bench.ts';
import { startServiceProcess } from './support/service-process.ts';
import { startBenchSite } from './support/site.ts';
import { percentile } from './support/statistics.ts';
import type { Finding } from './support/table.ts';

const TIMEOUT_MS = 3_000;
const LATEST_MS = 3_500;
const AT_ONCE = 4;

/** Measures how late pages that never finish loading are answered, and whether the screenshot shows their content. */
export async function deadline({ browserPath, captures }: BenchOptions): Promise<readonly Finding[]> {
  const site = await startBenchSite();
  const service = await startServiceProcess({ browserPath });
  try {
    const latenessMs: number[] = [];
    let shown = 0;
    const worker = async () => {
      for (let at = 0; at < Math.ceil(captures / AT_ONCE / 4); at += 1) {
        const { status, body, ms } = await service.capture(`${site.origin}/never`, { timeoutMs: TIMEOUT_MS });
        latenessMs.push(ms);
        const { data } = JSON.parse(body);
        if (status === 200 && data.partial && data.partial_phase === 'load' && data.screenshot !== '') shown += 1;
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, worker));
    const worst = percentile(latenessMs, 1);
    return [
      {
        what: `a page that never finishes, deadline ${TIMEOUT_MS} ms: answered after, at most`,
        figure: `${worst.toFixed(0)} ms (p50 ${percentile(latenessMs, 0.5).toFixed(0)})`,
        target: `<= ${LATEST_MS} ms`,
        met: worst <= LATEST_MS,
      },
      {
        what: '... with the picture of what was there',
        figure: `${shown} of ${latenessMs.length}`,
        target: 'all',
        met: shown === latenessMs.length,
      },
    ];
  } finally {
    await service.stop();
    await site.stop();
  }
}
