import { configDefaults, defineConfig } from 'vitest/config';
import { secondBrowser } from './test/support/browsers.ts';
import { IN_BOTH_BROWSERS, IN_ONE_BROWSER, ONLY_IN_ALL } from './test/support/only-in-all.ts';
import StartOrder from './test/support/start-order.ts';

/** The mode of `npm test`, which runs the tests that need nothing but npm. */
const QUICK = 'quick';
/** The mode of `npm run test:all`, which runs the tests of captures in a second browser, too. */
const ALL = 'all';

/** The files of a run: without a second browser, those of the first. */
async function files(mode: string) {
  const exclude = [...configDefaults.exclude, ...(mode === QUICK ? Object.values(ONLY_IN_ALL).flat() : [])];
  const first = { include: ['test/**/*.test.ts'], exclude };
  const env = mode === ALL ? await secondBrowser() : undefined;
  if (env === undefined) {
    if (mode === ALL)
      process.stderr.write('The tests of captures run in one browser: PATH has none beside that of npm\n');
    return first;
  }
  const second = { include: [...IN_BOTH_BROWSERS], exclude: [...IN_ONE_BROWSER], env };
  return { projects: [{ test: { name: 'npm', ...first } }, { test: { name: 'system', ...second } }] };
}

export default defineConfig(async ({ mode }) => ({
  test: {
    ...(await files(mode)),
    globalSetup: [
      'one-temporary-directory',
      'browsers',
      ...(mode === QUICK ? ['only-npm'] : []),
      'one-package',
      'one-mongo',
      'busy-files',
    ].map((name) => `test/support/${name}.ts`),
    setupFiles: 'test/support/setup.ts',
    // The suites drive real browsers and databases, and often wait for them. In a whole run with three files at a time,
    // one of the three was usually idle, so one that mostly waits runs beside three others: see busy-files.ts.
    maxWorkers: mode === ALL ? 4 : 3,
    // The files of a worker share what they import: loading the service again for each took a third of the CPU time.
    isolate: false,
    sequence: { sequencer: StartOrder },
    // Concurrent tests mostly wait for deadlines. Captures that keep the cores busy wait for a slot of their actor.
    maxConcurrency: 20,
    execArgv: [
      // V8 ends a process now and then when it frees WebAssembly code, which fetch runs:
      // `Check failed: jit_page.has_value()` in UnregisterWasmAllocation.
      '--no-wasm-code-gc',
      // The memory of decoded images made V8 collect a heap that hardly grows, a tenth of the CPU time.
      '--initial-old-space-size=512',
    ],
    // Timeouts end what hangs, and do not measure: a shared machine or an emulated database stalls for a minute now and
    // then. Asking every 50 ms, the default, took up to a tenth of the CPU time of the files that mostly poll.
    expect: { poll: { timeout: 120_000, interval: 150 } },
    testTimeout: 240_000,
    hookTimeout: 240_000,
  },
}));
