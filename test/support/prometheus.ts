import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'vitest';
import { z } from 'zod';
import { freePort } from './free-port.ts';
import { makeDirectory } from './temporary-directory.ts';

const run = promisify(execFile);

/**
 * Returns the reason why Prometheus cannot run here (Debian: `prometheus`), or undefined when it can. With CI=true a
 * missing server is a failure, not a reason to skip.
 */
export async function whyNoPrometheus(): Promise<string | undefined> {
  try {
    await run('prometheus', ['--version']);
    await run('promtool', ['--version']);
    return undefined;
  } catch (error) {
    if (process.env.CI === 'true') throw new Error('no Prometheus for the tests', { cause: error });
    return 'prometheus and promtool are not installed';
  }
}

/** Runs promtool; resolves with its exit code and everything that it printed. */
export function promtool(args: readonly string[], input = ''): Promise<{ code: number | null; text: string }> {
  return new Promise((resolve) => {
    const child = execFile('promtool', [...args], (_failed, stdout, stderr) =>
      resolve({ code: child.exitCode, text: stdout + stderr }),
    );
    child.stdin?.end(input);
  });
}

const Answer = z.object({
  status: z.literal('success'),
  data: z.object({
    result: z.array(z.object({ metric: z.record(z.string(), z.string()), value: z.tuple([z.number(), z.string()]) })),
  }),
});

export interface RunningPrometheus extends AsyncDisposable {
  /** Evaluates a query now: the values by their series. */
  query(expression: string): Promise<z.output<typeof Answer>['data']['result']>;
}

/** Starts a Prometheus that scrapes an address once a second. Resolves when it has scraped it twice. */
export async function startPrometheus(address: string): Promise<RunningPrometheus> {
  const directory = await makeDirectory();
  const config = join(directory, 'prometheus.yml');
  await writeFile(
    config,
    `global: { scrape_interval: 1s }\nscrape_configs: [{ job_name: capstan, static_configs: [{ targets: ['${new URL(address).host}'] }] }]\n`,
  );
  const port = await freePort();
  const child = spawn(
    'prometheus',
    [
      `--config.file=${config}`,
      `--storage.tsdb.path=${join(directory, 'data')}`,
      `--web.listen-address=127.0.0.1:${port}`,
      '--log.level=error',
    ],
    { stdio: ['ignore', 'ignore', 'inherit'] },
  );
  const query = async (expression: string) => {
    const url = `http://127.0.0.1:${port}/api/v1/query?query=${encodeURIComponent(expression)}`;
    const answer: unknown = await (await fetch(url)).json();
    return Answer.parse(answer).data.result;
  };
  const stop = async () => {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill('SIGKILL');
      await once(child, 'exit');
    }
  };
  try {
    await expect
      .poll(() => query('count_over_time(up[1m])').catch(() => []))
      .toSatisfy((series: Awaited<ReturnType<typeof query>>) => Number(series[0]?.value[1] ?? 0) >= 2);
  } catch (error) {
    await stop();
    throw error;
  }
  return { query, [Symbol.asyncDispose]: stop };
}
