import { execFile } from 'node:child_process';
import { symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import type { StallTimes } from './stall-reporter.ts';
import { makeDirectory } from './temporary-directory.ts';

const ROOT = join(import.meta.dirname, '../..');

interface Run {
  readonly code: number | null;
  /** The lines of standard output, blank ones left out. */
  readonly lines: readonly string[];
}

describe('the reporters of CI', () => {
  let dir: string;

  beforeEach(async () => {
    dir = await makeDirectory();
    await symlink(join(ROOT, 'node_modules'), join(dir, 'node_modules'));
  });

  it('counts an error outside of any test as failed', async () => {
    const { code, lines } = await runTests(dir, { steady: 1, tail: 'throw new Error("while loading");' });

    expect(lines.slice(-2)).toEqual(['failed: suite.test.ts: while loading', '0 passed, 1 failed, 0 skipped']);
    expect(code).toBe(1);
  });

  it('names the tests that failed before the last line', async () => {
    const tail = "it('counts', () => expect(1).toBe(2)); it('throws', () => { throw new Error('first\\nsecond'); });";
    const { lines } = await runTests(dir, { steady: 1, tail });

    expect(lines.slice(-3)).toEqual([
      'failed: suite.test.ts > counts: expected 1 to be 2 // Object.is equality',
      'failed: suite.test.ts > throws: first',
      '1 passed, 2 failed, 0 skipped',
    ]);
  });

  it('keeps the results of a run whose test process hangs after the last one', async () => {
    const { code, lines } = await runTests(dir, { steady: 2, tail: NO_END, times: { endMs: 1000 } });

    expect(lines).toContainEqual(expect.stringContaining('all test files have ended, but the run has not'));
    expect(lines.at(-1)).toBe('2 passed, 0 failed, 0 skipped');
    expect(code).toBe(0);
  });

  it('fails a run with a failed test whose test process hangs after the last one', async () => {
    const tail = `${NO_END} it('fails', () => expect(1).toBe(2));`;
    const { code, lines } = await runTests(dir, { steady: 1, tail, times: { endMs: 1000 } });

    expect(lines.at(-1)).toBe('1 passed, 1 failed, 0 skipped');
    expect(code).toBe(1);
  });

  it('ends a run whose test process blocks, names the test and the process, and fails', async () => {
    // Vitest sends events in batches: the process must not block before it has sent them.
    const tail = "it('blocks', () => new Promise((resolve) => setTimeout(resolve, 500)).then(() => { for (;;); }));";
    const { code, lines } = await runTests(dir, { steady: 1, tail, times: { silenceMs: SILENCE_MS } });

    expect(lines).toContain('no event of a test for 5 s: the run is ended');
    expect(lines).toContain('running: suite.test.ts > blocks');
    expect(lines).toContainEqual(expect.stringMatching(/^process \d+ of \d+: R .*forks\.js/));
    expect(lines.at(-1)).toBe('1 passed, 1 failed, 0 skipped');
    expect(code).toBe(1);
  });

  it('fails a run in which a test file never started', async () => {
    await writeFile(join(dir, 'later.test.ts'), "import { it } from 'vitest'; it('never starts', () => {});");
    // Larger files are started first.
    const suite = { steady: 1, tail: `${NO_END} // ${'-'.repeat(1000)}`, times: { silenceMs: SILENCE_MS } };
    const { code, lines } = await runTests(dir, suite, '--maxWorkers=1');

    expect(lines.at(-1)).toBe('1 passed, 1 failed, 0 skipped');
    expect(code).toBe(1);
  });
});

const SILENCE_MS = 5_000;
/** Keeps the process from telling that its test file has ended, as when that message is lost. */
const NO_END = `
  const send = process._send;
  process._send = (message, ...rest) => message.type === 'testfileFinished' || send.call(process, message, ...rest);
`;

interface Suite {
  readonly steady: number;
  /** The end of the file. */
  readonly tail?: string;
  readonly times?: Partial<StallTimes>;
}

/** Runs a suite with `steady` tests that pass, before its tail. */
async function runTests(dir: string, suite: Suite, ...flags: readonly string[]): Promise<Run> {
  const text = `
    import { expect, it } from 'vitest';
    for (let i = 0; i < ${suite.steady}; i += 1) it('steady ' + i, () => expect(i).toBe(i));
    ${suite.tail ?? ''}
  `;
  const stallReporter = `
    import StallReporter from ${JSON.stringify(join(ROOT, 'test/support/stall-reporter.ts'))};
    export default class extends StallReporter {
      constructor() {
        super(${JSON.stringify(suite.times)});
      }
    }
  `;
  await writeFile(join(dir, 'suite.test.ts'), text);
  await writeFile(join(dir, 'stall-reporter.ts'), stallReporter);
  const vitest = join(ROOT, 'node_modules/vitest/vitest.mjs');
  const reporters = ['default', './stall-reporter.ts', join(ROOT, 'test/support/ci-reporter.ts')];
  const args = [...[vitest, 'run', '--root', dir, ...flags], ...reporters.map((reporter) => `--reporter=${reporter}`)];
  return new Promise<Run>((resolve) => {
    const child = execFile(
      process.execPath,
      args,
      { cwd: dir, timeout: 120_000, killSignal: 'SIGKILL' },
      (_failed, stdout) =>
        resolve({ code: child.exitCode, lines: stdout.split('\n').filter((line) => line.trim() !== '') }),
    );
  });
}
