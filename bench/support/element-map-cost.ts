import { watchTree } from './process-tree.ts';
import type { ServiceProcess } from './service-process.ts';
import { startBenchSite } from './site.ts';
import { median } from './statistics.ts';
import type { Finding } from './table.ts';

const PAGES = 12;
const MAX_SHARE = 0.03;
/** Each in the first and the second half of a round as often, so that a trend counts for both. */
const ROUND = [false, true, true, false] as const;

/** Captures small, medium and heavy pages with and without element maps in turn. Returns what maps add in CPU. */
export async function elementMapCost(service: ServiceProcess, rounds: number): Promise<readonly Finding[]> {
  const site = await startBenchSite();
  try {
    const urls = site.urls(PAGES);
    for (const url of urls) await service.capture(url, {});
    const ratios: number[] = [];
    for (let round = 0; round < rounds; round += 1) {
      const spent = { with: 0, without: 0 };
      for (const elementMap of ROUND) {
        const { cpuSeconds } = await watchTree(service.pid, async () => {
          for (const url of urls) {
            const { status, body } = await service.capture(url, { elementMap });
            if (status !== 200) throw new Error(`${status} ${body.slice(0, 200)}`);
          }
        });
        spent[elementMap ? 'with' : 'without'] += cpuSeconds;
      }
      ratios.push(spent.with / spent.without - 1);
    }
    const percent = (share: number) => `${(share * 100).toFixed(1)} %`;
    return [
      {
        what: 'CPU that element maps add to captures of the window',
        figure: `${percent(median(ratios))} (${ratios.map(percent).join(', ')})`,
        target: percent(MAX_SHARE),
        met: median(ratios) < MAX_SHARE,
      },
    ];
  } finally {
    await site.stop();
  }
}
