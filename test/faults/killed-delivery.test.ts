import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { describe, it } from 'vitest';
import { type Answer, startReceiver } from '../receivers/receiver.ts';
import { describeWithSharedMongo } from '../support/describe-with-mongo.ts';
import { makeDirectory } from '../support/temporary-directory.ts';
import { openDatabase } from '../watches/seeded-watches.ts';

const RUNNER = join(import.meta.dirname, '../receivers/telling-runner.ts');
/**
 * Where the processes of each chain are killed, one after the other on the same data: around each change that delivery
 * makes in its store. The last one of a chain lives. Chains run side by side, because each process may wait for a lease.
 */
const CHAINS = [
  ['before setCursor', 'before add', ''],
  ['before setCursor', 'before next', ''],
  ['before retry', 'before remove', ''],
  ['after remove', 'before bury', ''],
];
/** Time limit for a chain. */
const TIMEOUT = 300_000;
/** Runs of each process: one is taken at the second attempt, one is refused, and one is taken at once. */
const RUNS = 3;
/** A process that goes on may wait for the lease of 15 s of the killed one. */
const DEADLINE = { interval: 50, timeout: 120_000 };

describe.concurrent('delivery by processes that are killed with -9 at each of its steps', () => {
  describe('in SQLite', () => tells(async (directory) => join(directory, 'results.db')));

  describeWithSharedMongo('in MongoDB', (url) => tells(async (_, chain) => `${url()}chain${chain}`));
});

function tells(placeOf: (directory: string, chain: number) => Promise<string>): void {
  it.for(CHAINS.map((steps, chain) => ({ steps, chain, kills: steps.slice(0, -1).join(', ') })))(
    'tells of each change in order, repeats one for each kill, and keeps what was refused: $kills',
    { timeout: TIMEOUT },
    async ({ steps, chain }, { expect }) => {
      const directory = await makeDirectory();
      const place = await placeOf(directory, chain);
      const ended: number[] = [];
      const tried = new Set<number>();
      const answer: Answer = (response, n) => {
        const run: number = JSON.parse(receiver.received[n]?.body ?? '{}').run.capture;
        const isFirst = !tried.has(run);
        tried.add(run);
        const status = run % RUNS === 1 && isFirst ? 500 : run % RUNS === 2 ? 410 : 204;
        if (status !== 500) ended.push(run);
        response.writeHead(status).end();
      };
      await using receiver = await startReceiver(answer);
      let next = 1;
      const start = (dieAt: string, runs: number) => {
        const args = [RUNNER, place, join(directory, 'events.db'), receiver.url, String(runs), `1:${next}`];
        const env = { ...process.env, DIE_AT: dieAt };
        const child = spawn(process.execPath, ['--no-warnings', ...args], {
          env,
          stdio: ['ignore', 'pipe', 'inherit'],
        });
        createInterface({ input: child.stdout }).on('line', (line) => {
          if (line.startsWith('finished')) next = Number(line.split(' ')[2]) + 1;
        });
        return { child, closed: once(child, 'close') };
      };

      for (const [at, step] of steps.slice(0, -1).entries()) {
        expect([step, ...(await start(step, RUNS * (at + 1)).closed)]).toEqual([step, null, 'SIGKILL']);
      }
      const all = RUNS * steps.length;
      const { child, closed } = start('', all);
      const database = await openDatabase(place);
      try {
        const store = database.openDeliveries();
        await expect.poll(() => ended.includes(all), DEADLINE).toBe(true);
        await expect.poll(async () => (await store.waiting()).size, DEADLINE).toBe(0);
        const dead = await store.dead({ receiver: 'c.', isPrefix: true, ofKey: undefined }, 100);
        const refused = Array.from(steps, (_, at) => RUNS * at + 2);
        expect(dead.items.map(({ event }) => JSON.parse(event).run.capture)).toEqual(refused);
      } finally {
        child.kill('SIGKILL');
        await closed;
        await database.close();
      }
      expect([...new Set(ended)]).toEqual(Array.from({ length: all }, (_, at) => at + 1));
      expect(ended.length).toBeLessThan(all + steps.length);
    },
  );
}
