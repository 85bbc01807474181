import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { describe, it } from 'vitest';
import { serversForSuite, whyNoCluster } from '../cluster/cluster-of-processes.ts';
import { logOfCluster } from '../receivers/open-log.ts';
import { type Answer, startReceiver } from '../receivers/receiver.ts';
import { describeWithSharedMongo } from '../support/describe-with-mongo.ts';
import { makeDirectory } from '../support/temporary-directory.ts';
import { createRandom, seedOfRun } from './random.ts';

const RUNNER = join(import.meta.dirname, '../receivers/telling-runner.ts');
const WATCHES = 5;
/** With 10, 500 changes are told. */
const KILLS = Number(process.env.CAPSTAN_KILL_ROUNDS ?? 3);
const RUNS = 10 * KILLS;
/** A process of a cluster that goes on in place of a killed one waits for its lease of 15 s. */
const DEADLINE = { timeout: 120_000 };
const TIMEOUT = 60_000 * (KILLS + 1);

interface Places {
  readonly database: string;
  /** The log, as each process opens it. */
  readonly logs: readonly string[];
}

const whyNot = await whyNoCluster();
const reason = whyNot === undefined ? '' : ` (skipped: ${whyNot})`;

// They mostly wait: for pauses before further attempts, and for leases.
describe.concurrent('messages of processes that are killed with -9', () => {
  describe('in SQLite', () => {
    tells(async () => {
      const directory = await makeDirectory();
      return { database: join(directory, 'results.db'), logs: [join(directory, 'events.db')] };
    });
  });

  describeWithSharedMongo('in MongoDB', (url) => {
    tells(async () => ({ database: `${url()}messages`, logs: [join(await makeDirectory(), 'events.db')] }));
  });

  describe.skipIf(whyNot !== undefined)(`of two api nodes of a cluster${reason}`, () => {
    const servers = serversForSuite();
    tells(async () => {
      const directories = [await makeDirectory(), await makeDirectory()];
      const logs = directories.map((directory) => logOfCluster(servers.nats.url, 'messages', directory));
      return { database: `${servers.mongo.url}messages`, logs };
    });
  });
});

function tells(open: () => Promise<Places>): void {
  const random = createRandom(seedOfRun());

  it(
    `tell a receiver that fails half of the time of each change, in order, and repeat only what a kill interrupted (seed ${random.seed})`,
    async ({ expect }) => {
      const { database, logs } = await open();
      const taken: (readonly [watch: number, run: number])[] = [];
      const flaky: Answer = (response, n) => {
        const isTaken = random.integer(0, 1) === 1;
        if (isTaken) {
          const { watch, run } = JSON.parse(receiver.received[n]?.body ?? '{}');
          taken.push([watch, run.capture]);
        }
        response.writeHead(isTaken ? 204 : 500).end();
      };
      await using receiver = await startReceiver(flaky);
      const next = Array.from({ length: WATCHES }, () => 1);
      const start = async (node: number): Promise<ChildProcess> => {
        const own = next.flatMap((run, at) => (at % logs.length === node ? [`${at + 1}:${run}`] : []));
        const args = [RUNNER, database, logs[node] ?? '', receiver.url, String(RUNS), ...own];
        const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
        createInterface({ input: child.stdout }).on('line', (line) => {
          const [what, watch, run] = line.split(' ');
          if (what === 'finished') next[Number(watch) - 1] = Number(run) + 1;
        });
        await once(child.stdout, 'data');
        return child;
      };
      const end = async (child: ChildProcess | undefined): Promise<void> => {
        child?.kill('SIGKILL');
        if (child !== undefined) await once(child, 'close');
      };

      const nodes: ChildProcess[] = [];
      for (const node of logs.keys()) nodes.push(await start(node));
      for (let kill = 1; kill <= KILLS; kill += 1) {
        const enough = (kill / (KILLS + 1)) * WATCHES * RUNS;
        await expect.poll(() => taken.length, { interval: 5, ...DEADLINE }).toBeGreaterThan(enough - 1);
        const node = random.integer(0, nodes.length - 1);
        await end(nodes[node]);
        nodes[node] = await start(node);
      }
      const all = () => new Set(taken.map(([watch, run]) => `${watch} ${run}`)).size;
      await expect.poll(all, { interval: 50, ...DEADLINE }).toBe(WATCHES * RUNS);
      await Promise.all(nodes.map(end));

      const counts = Map.groupBy(taken, ([watch, run]) => `${watch} ${run}`);
      expect(Math.max(...[...counts.values()].map((times) => times.length))).toBeLessThanOrEqual(2);
      expect(taken.length - counts.size).toBeLessThanOrEqual(2 * WATCHES * KILLS);
      for (let watch = 1; watch <= WATCHES; watch += 1) {
        const firstTimes = [...new Set(taken.filter(([of]) => of === watch).map(([, run]) => run))];
        expect(firstTimes).toEqual(firstTimes.toSorted((a, b) => a - b));
      }
    },
    TIMEOUT,
  );
}
