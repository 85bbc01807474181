import { setTimeout as delay } from 'node:timers/promises';
import { jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { expect } from 'vitest';
import { z } from 'zod';
import type { Served } from '../commands/capstan-process.ts';
import { type Answered, capture, stats } from '../faults/client.ts';
import type { Random } from '../faults/random.ts';
import { type Block, subscribe } from '../http/event-subscriber.ts';
import { type S3Server, s3Flags } from '../support/s3.ts';
import type { ClusterOfProcesses, OwnServers } from './cluster-of-processes.ts';

export type Victim = 'worker' | 'api' | 'nats' | 'mongo' | 's3';

export interface KilledNodes {
  readonly servers: OwnServers;
  readonly cluster: ClusterOfProcesses;
  /** Name of the cluster. */
  readonly name: string;
  readonly url: () => string;
  readonly victims: readonly Victim[];
  readonly random: Random;
  /** Where captures are kept, when not in GridFS. */
  readonly s3?: { readonly server: S3Server; readonly bucket: string };
  readonly report?: (text: string) => void;
}

interface AnsweredBy extends Answered {
  readonly node: Served;
}

const CLIENTS = 4;
const DEADLINE_MS = 40_000;

/**
 * In each round, kills a worker, an api node or NATS at a random moment while clients send captures, and starts it
 * again; MongoDB is taken away. Afterwards checks that each capture that a surviving api node accepted has one
 * outcome, that each capture that was answered as stored has one record and an image that another node serves, that
 * each record has its event in the replay of both api nodes, that each event that a subscriber saw is in it, and that
 * no ticket is left. Resolves with the number of answers by status.
 */
export async function killNodes(options: KilledNodes): Promise<ReadonlyMap<number, number>> {
  const { servers, cluster, url, victims, random, report = () => {} } = options;
  const places = options.s3 === undefined ? [] : s3Flags(options.s3.server, options.s3.bucket);
  const deadline = ['--timeout-ms', String(DEADLINE_MS)];
  const startApi = () => cluster.start('api', '--cluster-max-concurrent', '4', ...deadline, ...places);
  const startWorker = () => cluster.start('worker', '--max-concurrent', '2', ...places);
  const apis = await Promise.all([startApi(), startApi()]);
  const workers = await Promise.all([startWorker(), startWorker()]);
  await Promise.all(apis.map((api) => cluster.workers(api, workers.length)));

  const followed = await Promise.all(apis.map(follow));
  const answers: AnsweredBy[] = [];
  let isDone = false;
  const clients = Array.from({ length: CLIENTS }, async (_, at) => {
    while (!isDone) {
      const node = apis[at % apis.length];
      if (node === undefined) return;
      // The connections to a killed node break; what it had accepted is lost with it.
      const answer = await capture(node.url, { url: url(), timeoutMs: DEADLINE_MS }).catch(() => undefined);
      if (answer === undefined || answer.status >= 429) await delay(100);
      if (answer !== undefined) answers.push({ ...answer, node });
    }
  });

  for (const [round, victim] of victims.entries()) {
    const before = answers.length;
    await expect.poll(() => answers.length).toBeGreaterThan(before + random.integer(1, 6));
    await delay(random.integer(0, 300));
    report(`round ${round + 1}: ${victim}, after ${answers.length} answers`);
    if (victim === 'nats') {
      await servers.nats.kill();
      await delay(random.integer(0, 1_000));
      await servers.nats.start();
    } else if (victim === 'mongo') {
      await servers.mongo.stop();
      // Without it, the captures of this round are kept on the disks of workers.
      const stopped = answers.length;
      await expect.poll(() => answers.length).toBeGreaterThan(stopped + CLIENTS);
      await servers.mongo.start();
    } else if (victim === 's3') {
      await options.s3?.server.kill();
      // Captures of this round wait on the disks of workers.
      const killed = answers.length;
      await expect.poll(() => answers.length).toBeGreaterThan(killed + CLIENTS);
      await options.s3?.server.start();
    } else {
      const group = victim === 'api' ? apis : workers;
      const at = random.integer(0, group.length - 1);
      const killed = group[at];
      if (killed === undefined) throw new Error('it is there');
      killed.child.kill('SIGKILL');
      await killed.ended;
      const started = await cluster.again(killed);
      group[at] = started;
      if (victim === 'api') followed.push(await follow(started));
    }
  }
  const last = answers.length;
  await expect
    .poll(() => answers.filter(({ status }, at) => at >= last && status === 200).length)
    .toBeGreaterThan(CLIENTS);
  isDone = true;
  await Promise.all(clients);

  for (const api of apis) {
    const { captures } = await stats(api.url);
    const { accepted = 0, inside, stored = 0, failed = 0, timed_out = 0, cancelled = 0, rejected = 0 } = captures;
    expect({ inside, ended: stored + failed + timed_out + cancelled + rejected }).toEqual({
      inside: 0,
      ended: accepted,
    });
    expect(answers.filter(({ node, status }) => node === api && status === 200)).toHaveLength(stored);
  }
  await expectStored(apis, answers);
  await expectNoTickets(options);
  await expectEvents(apis, followed, url);
  return new Map([...Map.groupBy(answers, ({ status }) => status)].map(([status, all]) => [status, all.length]));
}

async function expectStored(apis: readonly Served[], answers: readonly AnsweredBy[]): Promise<void> {
  const stored = answers.filter(({ status }) => status === 200);
  const ids = stored.map(({ result }) => result?.id);
  expect(new Set(ids).size).toBe(ids.length);
  for (const { node, result } of stored) {
    const other = apis.find((api) => api !== node) ?? node;
    // A server that was just started again may answer late.
    await expect
      .poll(
        async () => ({
          record: await outcomeOf(`${other.url}/results/${result?.id}`),
          image: await outcomeOf(`${other.url}${result?.screenshot}`),
        }),
        { message: `capture ${result?.id}` },
      )
      .toEqual({ record: '200', image: '200' });
  }
}

/** Returns the status of the answer and, if it is not 200, the body. */
async function outcomeOf(url: string): Promise<string> {
  const answer = await fetch(url);
  const body = await answer.text();
  return answer.ok ? String(answer.status) : `${answer.status} ${body}`;
}

const eventSchema = z.object({ id: z.number().optional(), result: z.unknown().optional() });
const pageSchema = z.object({ data: z.array(z.object({ id: z.number(), url: z.string() })) });

interface SeenEvent {
  readonly at: number;
  readonly event: string | undefined;
  readonly data: unknown;
}

/** The events that an api node sends to one subscriber, until the node is killed. */
interface Followed {
  readonly seen: readonly SeenEvent[];
  close(): Promise<void>;
}

async function follow({ url }: Served): Promise<Followed> {
  const subscriber = await subscribe(`${url}/events`);
  const seen: SeenEvent[] = [];
  const following = (async () => {
    for (;;) seen.push(seenOf(await subscriber.event()));
  })().catch(() => undefined);
  return {
    seen,
    async close() {
      await subscriber.close();
      await following;
    },
  };
}

function seenOf({ id, event, data }: Block): SeenEvent {
  return { at: Number(id), event, data };
}

/**
 * Checks that both api nodes replay the same events, which report each record once, and which are all that subscribers
 * have seen.
 */
async function expectEvents(apis: readonly Served[], followed: readonly Followed[], url: () => string): Promise<void> {
  const [first, second] = apis;
  if (first === undefined || second === undefined) throw new Error('there are two api nodes');
  let last: Answered;
  do last = await capture(first.url, { url: url(), timeoutMs: DEADLINE_MS });
  while (last.result?.failed !== false);
  const { id } = last.result;
  const [events, same] = [await eventsOf(first, id), await eventsOf(second, id)];
  expect(same).toEqual(events);
  expect(isRising(events)).toBe(true);
  const replayed = new Map(events.map(({ at, event, data }) => [at, { at, event, data }]));
  for (const { seen, close } of followed) {
    await close();
    expect(isRising(seen)).toBe(true);
    const newest = events.at(-1)?.at ?? 0;
    for (const one of seen.filter(({ at }) => at <= newest)) expect(one).toEqual(replayed.get(one.at));
  }
  const reported = events.filter(({ ends }) => ends).map(({ id }) => id);
  // Records may wait on the disk of a worker.
  const ids = async () => (await recordsOf(first)).map(({ id }) => id).toSorted();
  await expect.poll(ids).toEqual(reported.toSorted());
  const urls = (await recordsOf(first)).map((record) => record.url);
  expect(new Set(urls).size).toBe(urls.length);
}

function isRising(events: readonly SeenEvent[]): boolean {
  return events.every(({ at }, index) => at > (events[index - 1]?.at ?? 0));
}

/** Returns the events that a node replays, up to that of the last capture. */
async function eventsOf({ url }: Served, last: number) {
  const subscriber = await subscribe(`${url}/events?lastEventId=0`);
  const events = [];
  for (;;) {
    const seen = seenOf(await subscriber.event());
    const { event } = seen;
    const of = eventSchema.parse(seen.data);
    // A failed capture that has a record has it in its event.
    const ends = /^capture\.(stored|failed|timed_out)$/.test(event ?? '') && of.result !== null;
    events.push({ ...seen, ends, id: of.id });
    if (event === 'capture.stored' && of.id === last) break;
  }
  await subscriber.close();
  return events;
}

async function recordsOf({ url }: Served) {
  const records: z.output<typeof pageSchema>['data'] = [];
  for (let next: string | undefined = '/results?limit=100'; next !== undefined; ) {
    const page: Response = await fetch(`${url}${next}`);
    records.push(...pageSchema.parse(await page.json()).data);
    next = /<([^>]*)>; rel="next"/.exec(page.headers.get('link') ?? '')?.[1];
  }
  return records;
}

/**
 * A ticket is acknowledged when the event of its capture is stored: without tickets, no event is still to come. Nothing
 * keeps a place of the queue either.
 */
async function expectNoTickets({ servers, name }: KilledNodes): Promise<void> {
  const connection = await connect({ servers: servers.nats.url });
  try {
    const { streams } = await jetstreamManager(connection);
    for (const stream of [`${name}-work`, `${name}-places`]) {
      await expect.poll(async () => (await streams.info(stream)).state.messages, { interval: 250 }).toBe(0);
    }
  } finally {
    await connection.close();
  }
}
