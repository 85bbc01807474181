import { setTimeout as delay } from 'node:timers/promises';
import { jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { expect } from 'vitest';
import type { Served } from '../commands/capstan-process.ts';
import { type Answered, capture, stats } from '../faults/client.ts';
import type { Random } from '../faults/random.ts';
import type { ClusterOfProcesses, Servers } from './cluster-of-processes.ts';

export type Victim = 'worker' | 'api' | 'nats';

export interface KilledNodes {
  readonly servers: Servers;
  readonly cluster: ClusterOfProcesses;
  /** Name of the cluster. */
  readonly name: string;
  readonly url: () => string;
  readonly victims: readonly Victim[];
  readonly random: Random;
  readonly report?: (text: string) => void;
}

interface AnsweredBy extends Answered {
  readonly node: Served;
}

const CLIENTS = 4;
const DEADLINE_MS = 40_000;

/**
 * In each round, kills a worker, an api node or NATS at a random moment while clients send captures, and starts it
 * again. Afterwards checks that each capture that a surviving api node accepted has one outcome, that each capture that
 * was answered as stored has one record and an image that another node serves, and that no ticket is left.
 * Resolves with the number of answers by status.
 */
export async function killNodes(options: KilledNodes): Promise<ReadonlyMap<number, number>> {
  const { servers, cluster, url, victims, random, report = () => {} } = options;
  const startApi = () => cluster.start('api', '--cluster-max-concurrent', '4', '--timeout-ms', String(DEADLINE_MS));
  const startWorker = () => cluster.start('worker', '--max-concurrent', '2');
  const apis = await Promise.all([startApi(), startApi()]);
  const workers = await Promise.all([startWorker(), startWorker()]);
  await Promise.all(apis.map((api) => cluster.workers(api, workers.length)));

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
    await expect.poll(() => answers.length, { timeout: 60_000 }).toBeGreaterThan(before + random.integer(1, 6));
    await delay(random.integer(0, 300));
    report(`round ${round + 1}: ${victim}, after ${answers.length} answers`);
    if (victim === 'nats') {
      await servers.nats.kill();
      await delay(random.integer(0, 1_000));
      await servers.nats.start();
    } else {
      const group = victim === 'api' ? apis : workers;
      const at = random.integer(0, group.length - 1);
      group[at]?.child.kill('SIGKILL');
      await group[at]?.ended;
      group[at] = await (victim === 'api' ? startApi() : startWorker());
    }
  }
  const last = answers.length;
  await expect
    .poll(() => answers.filter(({ status }, at) => at >= last && status === 200).length, { timeout: 60_000 })
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
        { timeout: 60_000, message: `capture ${result?.id}` },
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

async function expectNoTickets({ servers, name }: KilledNodes): Promise<void> {
  const connection = await connect({ servers: servers.nats.url });
  try {
    const { streams } = await jetstreamManager(connection);
    await expect
      .poll(async () => (await streams.info(`${name}-work`)).state.messages, { timeout: 30_000, interval: 250 })
      .toBe(0);
  } finally {
    await connection.close();
  }
}
