import { readdir, readFile } from 'node:fs/promises';
import type { TestCase, TestModule, Vitest } from 'vitest/node';

/** Times of a run, in milliseconds. */
export interface StallTimes {
  /** From the last result of all to the end of the run. Vitest needs less than a second. */
  readonly endMs: number;
  /** Without any result: longer than the longest time limit of a test, which is that of the soak. */
  readonly silenceMs: number;
}

const TIMES: StallTimes = { endMs: 60_000, silenceMs: 15 * 60_000 };
const MAX_COMMAND = 400;

/**
 * Ends a run that hangs. Vitest waits without a limit for a message from each of its processes; one that blocks, or
 * whose last message does not arrive, would stop the run for good, without naming its file.
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

  /** Whether every test file of the run has ended. */
  get sawAllEnd(): boolean {
    return this.#left === 0;
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

  ended(): void {
    clearTimeout(this.#timer);
    this.#vitest = undefined;
  }

  #wait(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#end(), this.sawAllEnd ? this.#times.endMs : this.#times.silenceMs);
  }

  async #end(): Promise<void> {
    const vitest = this.#vitest;
    if (vitest === undefined) return;
    const lines = [
      this.sawAllEnd
        ? 'the run has not ended after all results: a test process is killed'
        : `no result for ${this.#times.silenceMs / 1000} s: the run is ended`,
      ...[...this.#running].flatMap(([file, tests]) => [
        `running: ${file}`,
        ...[...tests].map((test) => `running: ${file} > ${test}`),
      ]),
      ...(await descendants(process.pid)),
    ];
    process.stdout.write(`${lines.join('\n')}\n`);
    // The first call asks the processes to end, the second kills those that do not.
    void vitest.cancelCurrentRun('test-failure');
    void vitest.cancelCurrentRun('test-failure');
  }
}

/** Describes the descendants of a process on Linux: what each waits for in the kernel, and its command. */
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
