import { describe, type ExpectStatic, it } from 'vitest';
import { z } from 'zod';
import { ground, serve } from '../commands/capstan-process.ts';
import { startHosts, titledPage } from '../scans/hosts.ts';
import { describeWithSharedMongo } from '../support/describe-with-mongo.ts';

/* CAPSTAN_TEST_SCAN=5000x200 makes the scan larger: its targets and hosts; it is killed more often then. */
const [TARGETS = 0, HOSTS = 0, KILLS = 5] = (process.env.CAPSTAN_TEST_SCAN ?? '60x20x2').split('x').map(Number);
/** Of the whole test, in milliseconds. */
const TIMEOUT_MS = 240_000 + TARGETS * 1_000;

const Page = z.object({
  data: z.object({
    state: z.string(),
    progress: z.object({ done: z.number() }),
    results: z.array(z.object({ index: z.number(), url: z.string() })),
  }),
});
const Records = z.object({ data: z.array(z.object({ id: z.number(), url: z.string() })) });

/** Runs a scan over several `kill -9`. `database`: options of `capstan serve` that choose it. */
async function scanOverKills(expect: ExpectStatic, database: readonly string[]): Promise<void> {
  await using hosts = await startHosts(titledPage);
  const place = await ground();
  // Three of four targets refuse the connection.
  const urls = Array.from({ length: TARGETS }, (_, n) => {
    const port = n % 4 === 0 ? hosts.port : hosts.closedPort;
    return `http://127.0.1.${(n % HOSTS) + 1}:${port}/${n}`;
  });
  const flags = [...database, '--allow-targets', '127.0.0.0/8'];
  const start = () => serve(flags, place.options);
  let service = await start();
  const posted = await fetch(`${service.url}/scans`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/octet-stream' },
    body: urls.join('\n'),
  });
  expect(posted.status).toBe(202);
  const path = posted.headers.get('location') ?? '';
  const job = async (query = '') => Page.parse(await (await fetch(`${service.url}${path}${query}`)).json()).data;
  const done = async () => (await job('?limit=1')).progress.done;
  for (let kill = 1; kill <= KILLS; kill += 1) {
    await expect.poll(done, { timeout: TIMEOUT_MS }).toBeGreaterThan((TARGETS * kill) / (KILLS + 2));
    service.child.kill('SIGKILL');
    await service.ended;
    service = await start();
  }
  await expect.poll(async () => (await job('?limit=1')).state, { timeout: TIMEOUT_MS }).toBe('completed');

  const outcomes: { index: number; url: string }[] = [];
  let next: string | undefined = `${path}?limit=1000`;
  while (next !== undefined) {
    const response: Response = await fetch(service.url + next);
    outcomes.push(...Page.parse(await response.json()).data.results);
    next = /<([^>]+)>; rel="next"/.exec(response.headers.get('link') ?? '')?.[1];
  }
  expect(outcomes.map(({ index }) => index)).toEqual(urls.keys().toArray());
  expect(outcomes.map(({ url }) => url)).toEqual(urls);

  const records: string[] = [];
  next = `/results?limit=1000&scan=${path.replace('/jobs/', '')}`;
  while (next !== undefined) {
    const response: Response = await fetch(service.url + next);
    records.push(...Records.parse(await response.json()).data.map(({ url }) => url));
    next = /<([^>]+)>; rel="next"/.exec(response.headers.get('link') ?? '')?.[1];
  }
  expect(records.toSorted()).toEqual(urls.toSorted());
  service.child.kill('SIGTERM');
  await service.ended;
}

// They mostly wait, for the lease of a killed process.
describe.concurrent(`a scan of ${TARGETS} targets on ${HOSTS} hosts`, () => {
  const name = `ends with each target once after ${KILLS} kill -9`;

  describe('in SQLite', () => {
    it(name, { timeout: TIMEOUT_MS }, ({ expect }) => scanOverKills(expect, ['--db-path', 'results.db']));
  });

  describeWithSharedMongo('in MongoDB', (url) => {
    it(name, { timeout: TIMEOUT_MS }, ({ expect }) => scanOverKills(expect, ['--mongo-url', `${url()}scan`]));
  });
});
