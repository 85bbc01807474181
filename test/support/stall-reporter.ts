import { readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import type { Reporter, TestCase, TestModule, TestSpecification, Vitest } from 'vitest/node';
import { type FamilyMember, familyOf } from './process-family.ts';

/** Times of a run, in milliseconds. */
export interface StallTimes {
  /** Maximum time from the end of the last test file to the end of the run. Vitest needs less than a second. */
  readonly endMs: number;
  /** Maximum time without an event of a test. Longer than the longest test may take, the soak. */
  readonly silenceMs: number;
}

const TIMES: StallTimes = { endMs: 60_000, silenceMs: 13 * 60_000 };
/** Maximum time to describe the processes, and then to end the run. */
const DESCRIBE_MS = 5_000;
const CANCEL_MS = 30_000;
const MAX_COMMAND = 400;

/**
 * Ends a run that hangs. Vitest waits without a limit for messages of its processes: when one blocks, or its last
 * message is lost, the run never ends and does not name the file.
 */
export default class StallReporter implements Reporter {
  readonly #times: StallTimes;
  /** Tests under way, by test file. */
  readonly #running = new Map<string, Set<string>>();
  /** Number of test files that have not ended. */
  #left = Number.POSITIVE_INFINITY;
  /** Undefined when the run has ended. */
  #vitest: Vitest | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(times: Partial<StallTimes> = {}) {
    this.#times = { ...TIMES, ...times };
  }

  onInit(vitest: Vitest): void {
    this.#vitest = vitest;
  }

  onTestRunStart(files: readonly TestSpecification[]): void {
    this.#left = files.length;
    this.#wait();
  }

  onTestModuleQueued({ relativeModuleId }: TestModule): void {
    this.#running.set(relativeModuleId, new Set());
    this.#wait();
  }

  onTestModuleEnd({ relativeModuleId }: TestModule): void {
    this.#running.delete(relativeModuleId);
    this.#left -= 1;
    this.#wait();
  }

  onTestCaseReady({ module, fullName }: TestCase): void {
    this.#running.get(module.relativeModuleId)?.add(fullName);
    this.#wait();
  }

  onTestCaseResult({ module, fullName }: TestCase): void {
    this.#running.get(module.relativeModuleId)?.delete(fullName);
    this.#wait();
  }

  /** Vitest then closes its processes, which can hang too. */
  onTestRunEnd(): void {
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
    const described = await Promise.race([processes(), delay(DESCRIBE_MS, [], { ref: false })]);
    const vitest = this.#vitest;
    if (vitest === undefined) return;
    const why =
      this.#left === 0
        ? 'all test files have ended, but the run has not: the remaining test processes are killed'
        : `no event of a test for ${this.#times.silenceMs / 1000} s: the run is ended`;
    process.stdout.write(`${[why, ...running, ...described].join('\n')}\n`);
    this.#timer = setTimeout(() => {
      process.stdout.write('the run did not end: exit\n');
      process.exit(1);
    }, CANCEL_MS);
    // A second call while the first one waits kills the processes.
    void vitest.cancelCurrentRun('test-failure');
    void vitest.cancelCurrentRun('test-failure');
  }
}

/** Describes each process of this run in one line: state, kernel function it waits in, command. */
async function processes(): Promise<readonly string[]> {
  return (await familyOf(process.pid, readProcess)).map(({ text }) => text);
}

async function readProcess(pid: number): Promise<(FamilyMember & { readonly text: string }) | undefined> {
  const read = (file: string) => readFile(`/proc/${pid}/${file}`, 'utf8').catch(() => '');
  const [stat, waitsFor, command] = await Promise.all(['stat', 'wchan', 'cmdline'].map(read));
  const [state, parent] = stat?.split(') ').at(-1)?.split(' ') ?? [];
  if (parent === undefined) return undefined;
  const text = `process ${pid} of ${parent}: ${state} ${waitsFor} ${command?.replaceAll('\0', ' ').slice(0, MAX_COMMAND)}`;
  return { pid, parent: Number(parent), text };
}
