import type { Reporter, TestCase, TestModule, TestSpecification } from 'vitest/node';

/** A run with more tests than this that passed only when repeated fails: one flaky test hides the next. */
const MAX_RETRIED = 2;

/**
 * Ends a run with the names of the tests that passed only when repeated, and one plain line for programs:
 * `12 passed, 0 failed, 3 skipped`. Errors outside a test (in a hook, while loading a file, uncaught) and too many
 * repeated tests count as failed. A run that `StallReporter` has ended fails unless every test file has ended; the
 * errors that a hanging process did not send are then unknown.
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
    const retried = tests.filter(passedWhenRepeated);
    const tooManyRetried = retried.length > MAX_RETRIED ? retried.length : 0;
    const failed = count('failed') + count('pending') + brokenParts.length + unhandledErrors.length + tooManyRetried;
    const haveAllEnded = modules.length === this.#files && modules.every(hasEnded);
    const isExplained = reason === 'passed' || (reason === 'interrupted' && haveAllEnded) || failed > 0;
    const shown = isExplained ? failed : 1;
    if (shown > 0) process.exitCode = 1;
    // Vitest sets 1 for every run that was interrupted. Undefined, so that errors after the run still set it.
    else if (reason === 'interrupted') process.exitCode = undefined;
    const lines = [
      ...retried.map((test) => `passed only when repeated: ${test.module.relativeModuleId} > ${test.fullName}`),
      ...(tooManyRetried > 0 ? [`${retried.length} tests passed only when repeated; at most ${MAX_RETRIED} may`] : []),
      `${count('passed')} passed, ${shown} failed, ${count('skipped')} skipped`,
    ];
    // On exit, so that the other reporters have printed before.
    process.once('exit', () => process.stdout.write(`${lines.join('\n')}\n`));
  }
}

function hasEnded(module: TestModule): boolean {
  return !['queued', 'pending'].includes(module.state());
}

function passedWhenRepeated(test: TestCase): boolean {
  return test.result().state === 'passed' && (test.diagnostic()?.retryCount ?? 0) > 0;
}
