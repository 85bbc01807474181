import { type CaptureOptions, type CaptureRequest, requestSchemas } from '../../src/capture/request.ts';
import { parseOrRefuse } from '../../src/capture/validate.ts';

const { screenshot } = requestSchemas({
  maxBatch: 1,
  defaultTimeoutMs: 20_000,
  maxTimeoutMs: 120_000,
  callbacks: true,
});

/** The request that `POST /screenshot` makes of a URL and options; its deadline is 20 s unless it names another. */
export function captureRequest(url: string, options: CaptureOptions = {}): CaptureRequest {
  return parseOrRefuse(screenshot, { ...options, url });
}
