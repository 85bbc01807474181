import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { describe, it } from 'vitest';
import type { Answer } from '../receivers/receiver.ts';
import { startReceiver } from '../receivers/receiver.ts';
import { describeWithSharedMongo } from '../support/describe-with-mongo.ts';
import { makeDirectory } from '../support/temporary-directory.ts';
import { openDatabase } from '../watches/seeded-watches.ts';

const RUNNER = join(import.meta.dirname, '../receivers/telling-runner.ts');
const RUNS = 3;
/** What delivery does with its store, in its order: the first run is taken at the second attempt, the second is refused. */
const STEPS = [
  ...['before setCursor', 'before add', 'before setCursor 2', 'before next', 'before retry', 'after retry'],
  ...['before remove', 'after remove', 'before bury', 'after bury'],
];
/** The process that goes on may wait for the lease of 15 s of the killed one. */
const DEADLINE = { interval: 50, timeout: 120_000 };

describe.concurrent('delivery that is killed with -9', () => {
  describe('in SQLite', () => tells(async (directory) => join(directory, 'results.db')));

  describeWithSharedMongo('in MongoDB', (url) => tells(async (_, step) => `${url()}${step}`));
});

function tells(placeOf: (directory: string, step: string) => Promise<string>): void {
  it.for(STEPS)(
    'tells of each change in order, and repeats at most one: %s',
    { timeout: 240_000 },
    async (step, { expect }) => {
      const directory = await makeDirectory();
      const place = await placeOf(directory, step.replaceAll(' ', ''));
      const answered: (readonly [run: number, status: number])[] = [];
      const answer: Answer = (response, n) => {
        const { run } = JSON.parse(receiver.received[n]?.body ?? '{}');
        const status = run.capture === 2 ? 410 : run.capture === 1 && answered.length === 0 ? 500 : 204;
        answered.push([run.capture, status]);
        response.writeHead(status).end();
      };
      await using receiver = await startReceiver(answer);
      let next = 1;
      const start = (dieAt: string) => {
        const args = [RUNNER, place, join(directory, 'events.db'), receiver.url, String(RUNS), `1:${next}`];
        const env = { ...process.env, DIE_AT: dieAt };
        const child = spawn(process.execPath, ['--no-warnings', ...args], {
          env,
          stdio: ['ignore', 'pipe', 'inherit'],
        });
        createInterface({ input: child.stdout }).on('line', (line) => {
          if (line.startsWith('finished')) next = Number(line.split(' ')[2]) + 1;
        });
        return child;
      };

      expect(await once(start(step), 'close')).toEqual([null, 'SIGKILL']);
      const second = start('');
      const database = await openDatabase(place);
      try {
        const store = database.openDeliveries();
        const isLast = () => answered.some(([run]) => run === RUNS);
        await expect.poll(isLast, DEADLINE).toBe(true);
        await expect.poll(async () => (await store.waiting()).size, DEADLINE).toBe(0);
        const dead = await store.dead({ receiver: 'c.', isPrefix: true, ofKey: undefined }, 10);
        expect(dead).toMatchObject([{ status: 410, event: expect.stringContaining('"capture":2') }]);
      } finally {
        second.kill('SIGKILL');
        await once(second, 'close');
        await database.close();
      }
      const ended = answered.filter(([, status]) => status !== 500).map(([run]) => run);
      expect([...new Set(ended)]).toEqual([1, 2, 3]);
      expect(ended.length).toBeLessThanOrEqual(RUNS + 1);
    },
  );
}
