import { once } from 'node:events';
import { request } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { Served } from '../commands/capstan-process.ts';
import { siteForSuite } from '../support/for-suite.ts';
import { clusterOf, serversForSuite, whyNoCluster } from './cluster-of-processes.ts';

const whyNot = await whyNoCluster();
const reason = whyNot === undefined ? '' : ` (skipped: ${whyNot})`;

/** Interval at which the balancer asks each node whether it is ready, in milliseconds. */
const PROBE_MS = 1_000;
/** Pause of a client between reads, in milliseconds. Short, so that some would reach a node that has just stopped. */
const READ_MS = 50;
/** Pause of a client between captures, in milliseconds. */
const CAPTURE_MS = 200;

describe.skipIf(whyNot !== undefined)(`a rolling restart of the api nodes of a cluster${reason}`, () => {
  const site = siteForSuite();
  const servers = serversForSuite();

  it('refuses no request and resets no connection behind a balancer that honours /readyz', async () => {
    await using cluster = await clusterOf(servers, 'rolling');
    const start = () => cluster.start('api', '--drain-delay-ms', '5000');
    const old = await Promise.all([start(), start()]);
    await cluster.start('worker', '--max-concurrent', '2');
    await Promise.all(old.map((api) => cluster.workers(api, 1)));
    await using balancer = balancerOf(old);
    await expect.poll(() => balancer.ready.length).toBe(2);

    const answers: string[] = [];
    let isDone = false;
    const clients = [
      ...Array.from({ length: 2 }, () => async () => {
        answers.push(await send(balancer.next(), 'POST', '/screenshot', { url: site.url('/title?t=rolling') }));
        await delay(CAPTURE_MS);
      }),
      async () => {
        answers.push(await send(balancer.next(), 'GET', '/results?limit=1'));
        await delay(READ_MS);
      },
    ].map(async (ask) => {
      while (!isDone) await ask();
    });
    for (const node of old) {
      const before = answers.length;
      const next = await start();
      balancer.nodes.push(next);
      await expect.poll(() => balancer.ready.includes(next)).toBe(true);
      node.child.kill('SIGTERM');
      expect((await node.ended).code).toBe(0);
      await expect.poll(() => answers.length).toBeGreaterThan(before + 10);
    }
    isDone = true;
    await Promise.all(clients);
    expect(answers.filter((answer) => answer !== '200')).toEqual([]);
  });
});

interface Balancer extends AsyncDisposable {
  readonly nodes: Served[];
  /** The nodes that answered the last probe with 200. */
  readonly ready: readonly Served[];
  /** Returns the ready nodes one after another. */
  next(): Served;
}

/** Sends requests to the nodes that are ready, as a Service of Kubernetes does. */
function balancerOf(initial: readonly Served[]): Balancer {
  const nodes = [...initial];
  let ready: readonly Served[] = [];
  let turns = 0;
  const stopping = new AbortController();
  const probing = (async () => {
    while (!stopping.signal.aborted) {
      const probed = await Promise.all(
        nodes.map(async (node) => ({ node, answer: await send(node, 'GET', '/readyz') })),
      );
      ready = probed.filter(({ answer }) => answer === '200').map(({ node }) => node);
      await delay(PROBE_MS, undefined, { signal: stopping.signal }).catch(() => undefined);
    }
  })();
  return {
    nodes,
    get ready() {
      return ready;
    },
    next() {
      turns += 1;
      const node = ready[turns % ready.length];
      if (node === undefined) throw new Error('no node is ready');
      return node;
    },
    async [Symbol.asyncDispose]() {
      stopping.abort();
      await probing;
    },
  };
}

/** Sends a request over a connection of its own. Returns the status, or the code of the connection's error. */
async function send({ url }: Served, method: string, path: string, body?: object): Promise<string> {
  const headers = { 'content-type': 'application/json' };
  const sent = request(url + path, { method, headers, agent: false });
  try {
    const answered = once(sent, 'response');
    sent.end(body === undefined ? undefined : JSON.stringify(body));
    const [response] = await answered;
    response.resume();
    await once(response, 'end');
    return String(response.statusCode);
  } catch (error) {
    return error instanceof Error && 'code' in error ? String(error.code) : String(error);
  }
}
