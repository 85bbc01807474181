import { CapstanError, type FieldProblem } from '../../../src/capture/errors.ts';
import { requestSchemas } from '../../../src/capture/request.ts';
import { parseOrRefuse } from '../../../src/capture/validate.ts';

const { screenshot } = requestSchemas({ maxBatch: 1, defaultTimeoutMs: 30_000, maxTimeoutMs: 120_000 });

/** What a ScreenshotRequest with those options is read as. */
export const parse = (options: object) => parseOrRefuse(screenshot, { url: 'https://example.com/', ...options });

/** The fields of such a request that are refused; none when it is taken. */
export const problemsOf = (options: object): readonly FieldProblem[] => problemsOfReading(() => parse(options));

/** The fields for which `read` refuses what it reads. */
export function problemsOfReading(read: () => unknown): readonly FieldProblem[] {
  try {
    read();
    return [];
  } catch (error) {
    if (error instanceof CapstanError && error.code === 'invalid_request') return error.problems;
    throw error;
  }
}
