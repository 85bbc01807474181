import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { PHOTOS, SUB_RESOURCES } from './gallery.ts';

/** Origins of the kinds of pages: the fixture site, and pages with many sub-resources over HTTP and HTTP/2. */
export interface BenchOrigins {
  readonly site: string;
  readonly http: string;
  readonly https: string;
}

/** `long`: pages over HTTP with up to 40 photographs, few of them in the window. */
export type BenchPages = keyof BenchOrigins | 'long';

export interface BenchSite extends AsyncDisposable {
  readonly origin: string;
  /** Returns this many URLs of one kind of pages; small, medium and heavy pages in turn. */
  urls(count: number, pages?: BenchPages): readonly string[];
}

const SUBS = SUB_RESOURCES.map((count) => `/${count}`);

const PATHS: Readonly<Record<BenchPages, readonly string[]>> = {
  site: ['/short', '/medium', '/heavy'],
  http: SUBS,
  https: SUBS,
  long: PHOTOS.map((count) => `/long-${count}`),
};

/** Serves the pages from a process of its own, so that its CPU time is not measured. */
export async function startBenchSite(): Promise<BenchSite> {
  const child = fork(join(import.meta.dirname, 'site-process.ts'));
  const [origins]: BenchOrigins[] = await once(child, 'message');
  if (origins === undefined) throw new Error('the site did not say where it is');
  return {
    origin: origins.site,
    urls: (count, pages = 'site') => {
      const paths = PATHS[pages];
      const origin = origins[pages === 'long' ? 'http' : pages];
      return Array.from({ length: count }, (_, index) => `${origin}${paths[index % paths.length]}`);
    },
    async [Symbol.asyncDispose]() {
      const gone = once(child, 'exit');
      child.disconnect();
      await gone;
    },
  };
}
