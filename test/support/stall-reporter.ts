import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import type { TestCase, TestModule, Vitest } from 'vitest/node';

/** Times of a run, in milliseconds. */
export interface StallTimes {
  /** Maximum time from the end of the last test file to the end of the run. Vitest needs less than a second. */
  readonly endMs: number;
  /** Maximum time without an event of a test. Longer than two runs of the soak, because CI repeats a failed test. */
  readonly silenceMs: number;
}

const TIMES: StallTimes = { endMs: 60_000, silenceMs: 25 * 60_000 };
/** Maximum time to describe the processes, and then to end the run. */
const DESCRIBE_MS = 5_000;
const CANCEL_MS = 30_000;
const MAX_COMMAND = 400;

/**
 * Ends a run that hangs. Vitest waits without a limit for messages of its processes: when one blocks, or its last
 * message is lost, the run never ends and does not name the file.
 */
export class StallWatch {
  readonly #times: StallTimes;
  /** Tests under way, by test file. */
  readonly #running = new Map<string, Set<string>>();
  #left = Number.POSITIVE_INFINITY;
  #vitest: Vitest | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(times: Partial<StallTimes> = {}) {
    this.#times = { ...TIMES, ...times };
  }

  /** `files`: number of test files of the run. */
  started(vitest: Vitest, files: number): void {
    this.#vitest = vitest;
    this.#left = files;
    this.#wait();
  }

  moduleStarted(module: TestModule): void {
    this.#running.set(module.relativeModuleId, new Set());
    this.#wait();
  }

  moduleEnded(module: TestModule): void {
    this.#running.delete(module.relativeModuleId);
    this.#left -= 1;
    this.#wait();
  }

  testStarted(test: TestCase): void {
    this.#running.get(test.module.relativeModuleId)?.add(test.fullName);
    this.#wait();
  }

  testEnded(test: TestCase): void {
    this.#running.get(test.module.relativeModuleId)?.delete(test.fullName);
    this.#wait();
  }

  /** Vitest then closes its processes, which can hang too. */
  ended(): void {
    clearTimeout(this.#timer);
    this.#vitest = undefined;
    setTimeout(() => process.exit(), this.#times.endMs).unref();
  }

  #wait(): void {
    if (this.#vitest === undefined) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#end(), this.#left === 0 ? this.#times.endMs : this.#times.silenceMs);
  }

  async #end(): Promise<void> {
    const running = [...this.#running].flatMap(([file, tests]) => [
      `running: ${file}`,
      ...[...tests].map((test) => `running: ${file} > ${test}`),
    ]);
    const processes = await Promise.race([descendants(process.pid), delay(DESCRIBE_MS, [], { ref: false })]);
    const vitest = this.#vitest;
    if (vitest === undefined) return;
    const why =
      this.#left === 0
        ? 'all test files have ended, but the run has not: the remaining test processes are killed'
        : `no event of a test for ${this.#times.silenceMs / 1000} s: the run is ended`;
    process.stdout.write(`${[why, ...running, ...processes].join('\n')}\n`);
    this.#timer = setTimeout(() => {
      process.stdout.write('the run did not end: exit\n');
      process.exit(1);
    }, CANCEL_MS);
    // A second call while the first one waits kills the processes.
    void vitest.cancelCurrentRun('test-failure');
    void vitest.cancelCurrentRun('test-failure');
  }
}

/**
 * Describes each descendant of a process in one line: state, kernel function it waits in, command. Empty except on
 * Linux.
 */
async function descendants(root: number): Promise<readonly string[]> {
  const pids = (await readdir('/proc').catch(() => [])).filter((name) => /^\d+$/.test(name));
  const found = (await Promise.all(pids.map(describeProcess))).filter((each) => each !== undefined);
  const family = new Set([root]);
  for (let before = 0; before < family.size; ) {
    before = family.size;
    for (const { pid, parent } of found) if (family.has(parent)) family.add(pid);
  }
  return found.filter(({ pid }) => family.has(pid) && pid !== root).map(({ text }) => text);
}

async function describeProcess(name: string) {
  const read = (file: string) => readFile(`/proc/${name}/${file}`, 'utf8').catch(() => '');
  const [stat, waitsFor, command] = await Promise.all(['stat', 'wchan', 'cmdline'].map(read));
  const [state, parent] = stat?.split(') ').at(-1)?.split(' ') ?? [];
  if (parent === undefined) return undefined;
  const text = `process ${name} of ${parent}: ${state} ${waitsFor} ${command?.replaceAll('\0', ' ').slice(0, MAX_COMMAND)}`;
  return { pid: Number(name), parent: Number(parent), text };
}
