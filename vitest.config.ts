import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // The suites drive real browsers and databases; on two cores more than two files at a time would starve each other.
    maxWorkers: 2,
    // Shared machines stall for seconds, and capture deadlines are real time. CI repeats a failed test once and names it;
    // elsewhere the first failure counts.
    retry: process.env.CI === 'true' ? 1 : 0,
    // Longer than an idle machine needs, so that a busy one passes.
    expect: { poll: { timeout: 15_000 } },
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
});
