import type { Reporter, TestCase, TestModule, TestSpecification, TestSuite } from 'vitest/node';

/**
 * Ends a run with the names of the tests that failed, which are kept so when the log is shortened, and one plain line
 * for programs: `12 passed, 0 failed, 3 skipped`. Errors outside a test (in a hook, while loading a file, uncaught)
 * count as failed. A run that `StallReporter` has ended fails unless every test file has ended; the errors that a
 * hanging process did not send are then unknown.
 */
export default class CiReporter implements Reporter {
  /** Number of test files of the run. */
  #files = Number.NaN;

  onTestRunStart(files: readonly TestSpecification[]): void {
    this.#files = files.length;
  }

  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly unknown[], reason: string): void {
    const tests = modules.flatMap((module) => [...module.children.allTests()]);
    const count = (state: string) => tests.filter((test) => test.result().state === state).length;
    const brokenParts = modules
      .flatMap((module) => [module, ...module.children.allSuites()])
      .filter((part) => part.errors().length > 0);
    const failed = count('failed') + count('pending') + brokenParts.length + unhandledErrors.length;
    const haveAllEnded = modules.length === this.#files && modules.every(hasEnded);
    const isExplained = reason === 'passed' || (reason === 'interrupted' && haveAllEnded) || failed > 0;
    const shown = isExplained ? failed : 1;
    if (shown > 0) process.exitCode = 1;
    // Vitest sets 1 for every run that was interrupted. Undefined, so that errors after the run still set it.
    else if (reason === 'interrupted') process.exitCode = undefined;
    const names = [...tests.filter((test) => test.result().state === 'failed'), ...brokenParts].map(lineOf).join('');
    const line = `${count('passed')} passed, ${shown} failed, ${count('skipped')} skipped\n`;
    // On exit, so that the other reporters have printed before.
    process.once('exit', () => process.stdout.write(names + line));
  }
}

/** Where it is, and the first line of its first error. */
function lineOf(failed: TestCase | TestModule | TestSuite): string {
  const errors = failed.type === 'test' ? failed.result().errors : failed.errors();
  const place =
    failed.type === 'module' ? failed.relativeModuleId : `${failed.module.relativeModuleId} > ${failed.fullName}`;
  return `failed: ${place}: ${errors?.[0]?.message.split('\n')[0]}\n`;
}

function hasEnded(module: TestModule): boolean {
  return !['queued', 'pending'].includes(module.state());
}
