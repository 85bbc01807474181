import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // The suites drive real browsers and databases: two cores take two files at once, no more.
    maxWorkers: 2,
    // A machine that others share stalls for seconds now and then, and deadlines of captures are real time. What fails
    // twice in a row has failed; at a desk the first time is told.
    retry: process.env.CI === 'true' ? 1 : 0,
    // What is waited for comes sooner; on a busy machine a second is not enough.
    expect: { poll: { timeout: 15_000 } },
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
});
