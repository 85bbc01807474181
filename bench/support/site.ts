import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { BENCH_PATHS } from './driver.ts';
import { SUB_RESOURCES } from './gallery.ts';

/** Origins of the kinds of pages: the fixture site, and pages with many sub-resources over HTTP and HTTP/2. */
export interface BenchOrigins {
  readonly site: string;
  readonly http: string;
  readonly https: string;
}

export interface BenchSite {
  readonly origin: string;
  /** Returns this many URLs of one kind of pages; small, medium and heavy pages in turn. */
  urls(count: number, pages?: keyof BenchOrigins): readonly string[];
  stop(): Promise<void>;
}

export async function startBenchSite(): Promise<BenchSite> {
  const child = fork(join(import.meta.dirname, 'site-process.ts'));
  const [origins]: BenchOrigins[] = await once(child, 'message');
  if (origins === undefined) throw new Error('the site did not say where it is');
  return {
    origin: origins.site,
    urls: (count, pages = 'site') => {
      const paths = pages === 'site' ? BENCH_PATHS : SUB_RESOURCES.map((sub) => `/${sub}`);
      return Array.from({ length: count }, (_, index) => `${origins[pages]}${paths[index % paths.length]}`);
    },
    async stop() {
      const gone = once(child, 'exit');
      child.disconnect();
      await gone;
    },
  };
}
