import { z } from 'zod';
import { StabilitySchema } from '../src/capture/stability.ts';
import type { Listening } from '../test/egress/listening.ts';
import { AD_HOST, SEEDED, seededSite } from '../test/stability/seeded-site.ts';
import { startProxy } from '../test/support/proxy.ts';
import type { BenchOptions } from './support/bench.ts';
import { compared } from './support/comparison-cases.ts';
import { type ServiceProcess, startServiceProcess } from './support/service-process.ts';
import { type Finding, formatTable } from './support/table.ts';
import { UNSTABLE, unstableSite } from './support/unstable-site.ts';

const SITES: readonly (readonly [() => Promise<Listening>, Readonly<Record<string, string>>])[] = [
  [seededSite, SEEDED],
  [unstableSite, UNSTABLE],
];
const RECAPTURES = 50;
/** Minimum share of the unstable elements that are named with their cause. */
const MIN_NAMED = 7 / 8;

const Found = z.object({ data: StabilitySchema });
const Captured = z.object({ data: z.object({ id: z.number() }) });

/**
 * Checks the stability of two pages with unstable elements of known causes, and then captures each page again 50 times:
 * with the proposed `ignore`, nothing differs.
 */
export async function stability({ browserPath, print, report }: BenchOptions): Promise<readonly Finding[]> {
  const service = await startServiceProcess({ browserPath });
  const proxy = await startProxy({ names: { 'news.example': '127.0.0.1', [AD_HOST]: '127.0.0.1' } });
  try {
    const rows: string[][] = [];
    let [named, seeded, still, all] = [0, 0, 0, 0];
    for (const [start, causes] of SITES) {
      await using site = await start();
      const page = { url: `http://news.example:${site.port}/`, proxy: { server: `http://127.0.0.1:${proxy.port}` } };
      const { data } = Found.parse(await post(service, '/captures/stability', page));
      for (const [selector, cause] of Object.entries(causes)) {
        const found = data.unstable.find((each) => each.selector === selector)?.cause ?? 'none';
        rows.push([selector, cause, found]);
        seeded += 1;
        if (found === cause) named += 1;
      }
      for (const { selector, cause } of data.unstable) {
        if (!Object.hasOwn(causes, selector)) rows.push([selector, 'none', cause]);
      }
      const shoot = async () => Captured.parse(await post(service, '/screenshot', page)).data.id;
      const first = await shoot();
      for (let time = 0; time < RECAPTURES; time += 1) {
        const { regions, elements } = await compared(service, first, await shoot(), data.ignore);
        all += 1;
        if (regions.length === 0) still += 1;
        else report(`stability: differs with ignore: ${JSON.stringify([regions, elements?.changes])}`);
      }
    }
    print(formatTable(['unstable element', 'cause', 'named'], rows));
    return [
      {
        what: 'stability: causes named',
        figure: `${named} of ${seeded}`,
        target: String(MIN_NAMED),
        met: named >= seeded * MIN_NAMED,
      },
      {
        what: 'stability: captures without an alarm, with the proposed ignore',
        figure: `${still} of ${all}`,
        target: 'all',
        met: still === all,
      },
    ];
  } finally {
    await proxy[Symbol.asyncDispose]();
    await service.stop();
  }
}

async function post(service: ServiceProcess, path: string, body: unknown): Promise<unknown> {
  const response = await fetch(service.origin + path, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`${response.status} ${text.slice(0, 300)}`);
  return JSON.parse(text);
}
