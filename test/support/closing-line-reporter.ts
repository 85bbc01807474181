import type { Reporter, TestModule } from 'vitest/node';

/**
 * Ends a run with one plain line, `12 passed, 0 failed, 3 skipped`, for readers that are no people. What broke outside
 * of a test (a file that cannot be loaded, a hook, an error that nobody caught) counts as failed: a run that is not whole must
 * not look so.
 */
export default class ClosingLineReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly unknown[], reason: string): void {
    const tests = modules.flatMap((module) => [...module.children.allTests()]);
    const count = (state: string) => tests.filter((test) => test.result().state === state).length;
    const broken =
      modules.flatMap((module) => [module, ...module.children.allSuites()]).filter((part) => part.errors().length > 0)
        .length + unhandledErrors.length;
    const unfinished = count('pending');
    const failed = count('failed') + broken + unfinished;
    const whole = reason === 'passed' || failed > 0;
    const line = `${count('passed')} passed, ${whole ? failed : 1} failed, ${count('skipped')} skipped`;
    // After the other reporters, whatever their order: they print when this event is handed round.
    process.once('exit', () => process.stdout.write(`${line}\n`));
  }
}
