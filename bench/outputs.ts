import { NAMED_OUTPUT_KINDS } from '../src/capture/artifacts.ts';
import { startSite } from '../test/fixtures/site.ts';
import type { BenchOptions } from './support/bench.ts';
import { cpuByProcess } from './support/process-tree.ts';
import { startServiceProcess } from './support/service-process.ts';
import { median } from './support/statistics.ts';
import { type Finding, formatTable } from './support/table.ts';

const NONE = 'without';

/** Captures one page with each output in turn, and measures what it adds in time and CPU, and its size. */
export async function outputs({ browserPath, rounds, print }: BenchOptions): Promise<readonly Finding[]> {
  const site = await startSite();
  const service = await startServiceProcess({ browserPath });
  try {
    const cpu = () => [...cpuByProcess(service.pid).values()].reduce((sum, seconds) => sum + seconds, 0);
    const names = [NONE, ...NAMED_OUTPUT_KINDS];
    const seen = new Map(names.map((name) => [name, { ms: [0], cpuMs: [0], bytes: 0 }]));
    // The first round warms up.
    for (let round = 0; round <= rounds; round += 1) {
      for (const name of names) {
        const before = cpu();
        const options = name === NONE ? {} : { outputs: [name] };
        const { status, body, ms } = await service.capture(site.url(`/medium?${round}-${name}`), options);
        if (status !== 200) throw new Error(`${name}: ${status} ${body}`);
        const cpuMs = (cpu() - before) * 1000;
        const bytes = JSON.parse(body).data.outputs[0]?.bytes ?? 0;
        const { ms: all, cpuMs: allCpu } = seen.get(name) ?? { ms: [], cpuMs: [] };
        seen.set(
          name,
          round === 0 ? { ms: [], cpuMs: [], bytes } : { ms: [...all, ms], cpuMs: [...allCpu, cpuMs], bytes },
        );
      }
    }
    const rows = [...seen].map(([name, { ms, cpuMs, bytes }]) => [name, median(ms), median(cpuMs), bytes] as const);
    const [, ms = 0, cpuMs = 0] = rows[0] ?? [];
    print(
      formatTable(
        ['output', 'adds (ms)', 'CPU (ms)', 'bytes'],
        rows.map(([name, time, used, bytes]) =>
          name === NONE
            ? [name, time.toFixed(0), used.toFixed(0), '']
            : [name, (time - ms).toFixed(0), (used - cpuMs).toFixed(0), String(bytes)],
        ),
      ),
    );
    return [];
  } finally {
    await service.stop();
    await site.close();
  }
}
