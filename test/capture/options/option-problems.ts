import { CapstanError } from '../../../src/capture/errors.ts';
import type { FieldProblem } from '../../../src/capture/failure-details.ts';
import { requestSchemas } from '../../../src/capture/request.ts';
import { parseOrRefuse } from '../../../src/capture/validate.ts';

const { screenshot } = requestSchemas({ maxBatch: 1, timeoutMs: 30_000, maxTimeoutMs: 120_000 });

/** Parses a ScreenshotRequest with these options. */
export const parse = (options: object) => parseOrRefuse(screenshot, { url: 'https://example.com/', ...options });

/** Returns the problems of a ScreenshotRequest with these options; empty when it is valid. */
export const problemsOf = (options: object): readonly FieldProblem[] => problemsOfReading(() => parse(options));

/** Returns the problems that `read` reports. */
export function problemsOfReading(read: () => unknown): readonly FieldProblem[] {
  try {
    read();
    return [];
  } catch (error) {
    if (error instanceof CapstanError && error.code === 'invalid_request') return error.problems;
    throw error;
  }
}
