import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { SAMPLE_PAGES, type Site } from '../../test/fixtures/site.ts';
import { startMongo, whyNoMongo } from '../../test/support/mongo.ts';
import { startNats, whyNoNats } from '../../test/support/nats.ts';
import { getJson, type Service, startService } from './service.ts';

const API_NODES = 2;
const WORKERS = 3;
const SLOTS = 2;
/** Captures of each page. */
const TIMES = 3;
const POLL_MS = 50;

const captureSchema = z.object({ data: z.object({ id: z.number(), url: z.string(), screenshot: z.string() }) });
const statsSchema = z.object({
  data: z.object({
    queue: z.object({ running: z.number() }),
    cluster: z.object({ nodes: z.number(), workers: z.number() }),
  }),
});

interface Captured {
  readonly id: number;
  /** Path of the image. */
  readonly screenshot: string;
  /** The api node that did not receive the request. */
  readonly other: Service;
}

/**
 * Starts a cluster, sends captures to its api nodes in turn, kills a worker when half of them are answered, and reads
 * every image from the api node that did not receive the request.
 */
export async function demonstrateCluster(site: Site, dataDir: string): Promise<boolean> {
  const missing = (await whyNoNats()) ?? (await whyNoMongo());
  if (missing !== undefined) {
    process.stderr.write(`The cluster needs a NATS server and MongoDB: ${missing}.\n`);
    return false;
  }
  await using stack = new AsyncDisposableStack();
  const temporary = join(dataDir, 'tmp');
  await mkdir(temporary, { recursive: true });
  stack.defer(() => rm(dataDir, { recursive: true, force: true }));
  const nats = await startNats();
  const killNats = () => process.kill(nats.pid, 'SIGKILL');
  process.once('exit', killNats);
  stack.defer(async () => {
    process.off('exit', killNats);
    await nats.remove();
  });
  const mongo = await startMongo();
  stack.defer(() => mongo.remove());
  process.stdout.write(`NATS listens on ${nats.url}, MongoDB on ${mongo.url}.\n`);

  const start = async (name: string, ...flags: readonly string[]): Promise<Service> => {
    const service = await startService(
      [
        ...['--nats-url', nats.url, '--mongo-url', `${mongo.url}demo`, '--data-dir', join(dataDir, name)],
        ...['--allow-targets', site.host, '--log-level', 'fatal', ...flags],
      ],
      // The profile of a killed worker's browser stays: it is removed with everything else.
      { TMPDIR: temporary },
    );
    stack.use(service);
    process.stdout.write(`The ${name.replaceAll('-', ' ')} listens on ${service.url}.\n`);
    return service;
  };
  const first = await start('api-node-1', '--role', 'api');
  const apis = [first];
  for (let number = 2; number <= API_NODES; number += 1) apis.push(await start(`api-node-${number}`, '--role', 'api'));
  const workers: Service[] = [];
  for (let number = 1; number <= WORKERS; number += 1)
    workers.push(await start(`worker-${number}`, '--role', 'worker', '--max-concurrent', String(SLOTS)));
  for (const api of apis) await knows(api, WORKERS);

  const pages = Array.from({ length: TIMES }, (_, time) =>
    SAMPLE_PAGES.map((path) => site.url(`${path}?time=${time}`)),
  );
  const urls = pages.flat();
  process.stdout.write(`\n${urls.length} captures are sent to the api nodes in turn.\n`);
  const captured: Captured[] = [];
  const capturing = urls.map(async (url, at) => {
    const api = apis[at % apis.length] ?? first;
    const { data } = await getJson(new URL('/screenshot', api.url), captureSchema, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ url, timeoutMs: 60_000 }),
    });
    captured.push({ ...data, other: apis[(at + 1) % apis.length] ?? first });
  });
  const answers = Promise.allSettled(capturing);
  await killWorker(workers, () => captured.length >= urls.length / 2, answers);
  const failures = (await answers).filter(({ status }) => status === 'rejected');
  for (const { reason } of failures.filter((one) => one.status === 'rejected'))
    process.stdout.write(`  failed: ${reason}\n`);

  const ids = new Set(captured.map(({ id }) => id));
  let images = 0;
  for (const { other, screenshot } of captured) {
    const image = await fetch(new URL(screenshot, other.url));
    if (image.ok && (await image.arrayBuffer()).byteLength > 0) images += 1;
  }
  process.stdout.write(
    `  ${captured.length} of ${urls.length} captures were answered, with ${ids.size} different ids.\n`,
  );
  process.stdout.write(
    `  ${images} of ${urls.length} images were read from the api node that did not get the request.\n`,
  );
  const { cluster } = (await getJson(new URL('/stats', first.url), statsSchema)).data;
  process.stdout.write(`\nThe cluster has ${cluster.nodes} api nodes and ${cluster.workers} workers left.\n`);
  return captured.length === urls.length && ids.size === urls.length && images === urls.length;
}

/** Kills the first worker that has a capture in progress, as soon as the condition holds. */
async function killWorker(
  workers: readonly Service[],
  isTime: () => boolean,
  allAnswered: Promise<unknown>,
): Promise<void> {
  let isOver = false;
  void allAnswered.then(() => {
    isOver = true;
  });
  while (!isOver) {
    for (const [at, worker] of isTime() ? workers.entries() : []) {
      const { queue } = (await getJson(new URL('/stats', worker.url), statsSchema)).data;
      if (queue.running === 0) continue;
      await worker.kill();
      process.stdout.write(
        `  Worker ${at + 1} was killed while it ran ${queue.running} captures; they start elsewhere.\n`,
      );
      return;
    }
    await delay(POLL_MS);
  }
}

/** Resolves when the api node knows this many workers. */
async function knows(api: Service, workers: number): Promise<void> {
  while ((await getJson(new URL('/stats', api.url), statsSchema)).data.cluster.workers !== workers)
    await delay(POLL_MS);
}
