import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join, relative, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { SingleBar } from 'cli-progress';
import { z } from 'zod';
import { SAMPLE_PAGES, type Site, startSite } from '../test/fixtures/site.ts';

/*
 * Demonstrates capturing and querying without a network: starts a sample site and the service on loopback, captures a
 * batch of the site's pages, and prints what the service knows about them afterwards.
 */

const ROOT = join(import.meta.dirname, '..');
/** Data directory, data/demo by default; another one can be given: `npm run demo -- <dir>`. */
const DATA_DIR = resolve(process.argv[2] ?? join(ROOT, 'data', 'demo'));
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

interface Service extends AsyncDisposable {
  readonly url: string;
}

/** Starts the service as a user would, in a process of its own. Disposing of it stops it and waits for its end. */
async function startService(site: Site): Promise<Service> {
  const args = ['serve', '--port', '0', '--data-dir', DATA_DIR, '--db-path', join(DATA_DIR, 'results.db')];
  const child = spawn(
    process.execPath,
    [join(ROOT, 'bin/capstan.js'), ...args, '--allow-targets', site.host, '--log-level', 'warn'],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  process.once('exit', () => child.kill('SIGTERM'));
  const stop = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill('SIGTERM');
    await ended;
  };
  for await (const line of createInterface({ input: child.stdout })) {
    const [, url] = /^capstan listening on (\S+)$/.exec(line) ?? [];
    if (url !== undefined) return { url, [Symbol.asyncDispose]: stop };
  }
  throw new Error('the service did not start; what it said stands above');
}

async function getJson<T>(url: URL, schema: z.ZodType<T>, init: RequestInit = {}): Promise<T> {
  const response = await fetch(url, init);
  if (!response.ok) throw new Error(`${url.pathname} answered ${response.status}: ${await response.text()}`);
  return schema.parse(await response.json());
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

async function main(): Promise<number> {
  const site = await startSite();
  try {
    process.stdout.write(`A sample site serves on ${site.origin}, and nothing else is contacted.\n`);
    await using service = await startService(site);
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
      if (found.length === 0) return 1;
    }

    const place = relative(process.cwd(), DATA_DIR) || '.';
    process.stdout.write(`\nThe images are in ${place}, and the records in ${join(place, 'results.db')}.\n`);
    return batch.every(({ error }) => error === null) ? 0 : 1;
  } finally {
    await site.close();
  }
}

// The service must end with this process, whatever ends it.
process.once('SIGTERM', () => process.exit(143));
process.once('SIGINT', () => process.exit(130));
process.exitCode = await main();
