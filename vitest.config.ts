import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: 'test/support/one-temporary-directory.ts',
    // The suites drive real browsers and databases, and mostly wait for them: three at a time keep two cores busy.
    maxWorkers: 3,
    // The files of a worker share what they import: loading the service again for each took a third of the CPU time.
    isolate: false,
    // The number of captures that an actor of the tests runs at a time: a fifth would wait for its turn.
    maxConcurrency: 4,
    // V8 ends a process now and then when it frees WebAssembly code, which fetch runs: `Check failed: jit_page.has_value()`
    // in UnregisterWasmAllocation.
    execArgv: ['--no-wasm-code-gc'],
    // Shared machines stall for seconds, and capture deadlines are real time. CI repeats a failed test once and names it;
    // elsewhere the first failure counts.
    retry: process.env.CI === 'true' ? 1 : 0,
    // Longer than an idle machine needs, so that a busy one passes.
    expect: { poll: { timeout: 15_000 } },
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
});
