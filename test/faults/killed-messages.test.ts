import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, it } from 'vitest';
import { type Answer, startReceiver } from '../receivers/receiver.ts';
import { makeDirectory } from '../support/temporary-directory.ts';
import { createRandom } from './random.ts';

const RUNNER = join(import.meta.dirname, '../receivers/telling-runner.ts');
const WATCHES = 5;
const RUNS = 100;
const KILLS = 10;

it('tells a receiver that fails half of the time of each change, in order, and repeats only what a kill interrupted', async () => {
  const directory = await makeDirectory();
  const random = createRandom(54);
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
  const start = async (): Promise<ChildProcess> => {
    const places = [join(directory, 'results.db'), join(directory, 'events.db'), receiver.url];
    const child = spawn(process.execPath, [RUNNER, ...places, ...next.map(String)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    createInterface({ input: child.stdout }).on('line', (line) => {
      const [what, watch, run] = line.split(' ');
      if (what === 'finished') next[Number(watch)] = Number(run) + 1;
    });
    await once(child.stdout, 'data');
    return child;
  };

  for (let kill = 1; kill <= KILLS; kill += 1) {
    const child = await start();
    const enough = (kill / (KILLS + 1)) * WATCHES * RUNS;
    await expect.poll(() => taken.length, { interval: 5, timeout: 60_000 }).toBeGreaterThan(enough - 1);
    child.kill('SIGKILL');
    await once(child, 'close');
  }
  const last = await start();
  const all = () => new Set(taken.map(([watch, run]) => `${watch} ${run}`)).size;
  await expect.poll(all, { interval: 50, timeout: 120_000 }).toBe(WATCHES * RUNS);
  last.kill('SIGKILL');
  await once(last, 'close');

  const counts = Map.groupBy(taken, ([watch, run]) => `${watch} ${run}`);
  expect(Math.max(...[...counts.values()].map((times) => times.length))).toBeLessThanOrEqual(2);
  expect(taken.length - counts.size).toBeLessThanOrEqual(2 * WATCHES * KILLS);
  for (let watch = 1; watch <= WATCHES; watch += 1) {
    const firstTimes = [...new Set(taken.filter(([of]) => of === watch).map(([, run]) => run))];
    expect(firstTimes).toEqual(firstTimes.toSorted((a, b) => a - b));
  }
});
