import { join, relative } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { SingleBar } from 'cli-progress';
import { z } from 'zod';
import { SAMPLE_PAGES, type Site } from '../../test/fixtures/site.ts';
import { getJson, type Service, startService } from './service.ts';

/** Interval between updates of the progress bar. */
const PROGRESS_MS = 100;

const resultSchema = z.object({
  url: z.string(),
  title: z.string(),
  response_code: z.number(),
  duration_ms: z.number(),
  screenshot: z.string(),
});
const batchSchema = z.array(
  z.object({ url: z.string(), result: resultSchema.nullable(), error: z.string().nullable() }),
);
const statsSchema = z.object({ data: z.object({ captures: z.record(z.string(), z.number()) }) });

/** Captures a batch of the site's pages with one service, and prints what the service knows about them afterwards. */
export async function demonstrateService(site: Site, dataDir: string): Promise<boolean> {
  const place = relative(process.cwd(), dataDir) || '.';
  await using service = await startService([
    ...['--data-dir', dataDir, '--db-path', join(dataDir, 'results.db')],
    ...['--allow-targets', site.host, '--log-level', 'warn'],
  ]);
  process.stdout.write(`The service listens on ${service.url}.\n\n`);

  const urls = SAMPLE_PAGES.map((path) => site.url(path));
  const batch = await captureBatch(service, urls);
  for (const { url, result, error } of batch) {
    process.stdout.write(
      result === null || error !== null
        ? `  failed    ${url}: ${error}\n`
        : `  captured  ${url}  ${result.response_code}  ${result.duration_ms} ms  "${result.title}"\n`,
    );
  }

  const byUrl = new URL(`/results/by-url?url=${encodeURIComponent(urls[0] ?? '')}`, service.url);
  const byHost = new URL(`/results/by-host?host=${encodeURIComponent(site.host)}`, service.url);
  process.stdout.write('\nWhat the store knows of them, without a browser:\n');
  for (const address of [byUrl, byHost]) {
    const { data: found } = await getJson(address, z.object({ data: z.array(resultSchema) }));
    process.stdout.write(`  GET ${address.pathname}${address.search}  ->  ${found.length} found\n`);
    if (found.length === 0) return false;
  }

  process.stdout.write(`\nThe images are in ${place}, and the records in ${join(place, 'results.db')}.\n`);
  return batch.every(({ error }) => error === null);
}

/** Captures the pages as one batch, with a progress bar on standard error. */
async function captureBatch(service: Service, urls: readonly string[]): Promise<z.output<typeof batchSchema>> {
  const answered = new AbortController();
  const bar = new SingleBar({ format: 'capturing {bar} {value}/{total}', stream: process.stderr, hideCursor: true });
  bar.start(urls.length, 0);
  const progress = (async () => {
    while (!answered.signal.aborted) {
      const { data } = await getJson(new URL('/stats', service.url), statsSchema);
      const { stored = 0, failed = 0, timed_out: timedOut = 0 } = data.captures;
      bar.update(Math.min(stored + failed + timedOut, urls.length));
      await delay(PROGRESS_MS, undefined, { signal: answered.signal }).catch(() => undefined);
    }
  })();
  try {
    return await getJson(new URL('/batch', service.url), batchSchema, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ requests: urls.map((url) => ({ url })) }),
    });
  } finally {
    answered.abort();
    await progress.catch(() => undefined);
    bar.update(urls.length);
    bar.stop();
  }
}
