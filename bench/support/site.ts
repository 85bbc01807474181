import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { BENCH_PATHS } from './driver.ts';

export interface BenchSite {
  readonly origin: string;
  /** Returns this many URLs of small, medium and heavy pages in turn. */
  urls(count: number): readonly string[];
  stop(): Promise<void>;
}

export async function startBenchSite(): Promise<BenchSite> {
  const child = fork(join(import.meta.dirname, 'site-process.ts'));
  const [origin] = await once(child, 'message');
  return {
    origin,
    urls: (count) => Array.from({ length: count }, (_, index) => origin + BENCH_PATHS[index % BENCH_PATHS.length]),
    async stop() {
      const gone = once(child, 'exit');
      child.disconnect();
      await gone;
    },
  };
}
