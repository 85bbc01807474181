import { type CaptureOptions, type CaptureRequest, requestSchemas } from '../../src/capture/request.ts';
import { parseOrRefuse } from '../../src/capture/validate.ts';

const { screenshot } = requestSchemas({
  maxBatch: 1,
  timeoutMs: 60_000,
  maxTimeoutMs: 120_000,
  callbacks: true,
});

/**
 * Options for captures cut by their deadline. A fifth of this time, 5 s, is reserved for ending scripts and for the
 * screenshot; a longer deadline reserves no more.
 */
export const LATE = { timeoutMs: 25_000 };

/**
 * Returns when a page answers whose scripts keep the processor busy from then on until the capture, which begins now
 * with `LATE`, ends them: 3 s before its waiting time is over. In milliseconds since 1970.
 */
export const shortlyBeforeLate = () => Date.now() + 17_000;

/** Returns the request that `POST /screenshot` would make from a URL and options. Its default deadline is 60 s. */
export function captureRequest(url: string, options: CaptureOptions = {}): CaptureRequest {
  return parseOrRefuse(screenshot, { ...options, url });
}

/** Returns the request that `POST /screenshot` would make from HTML in place of a URL. */
export function htmlRequest(html: string, options: CaptureOptions = {}): CaptureRequest {
  return parseOrRefuse(screenshot, { ...options, html });
}
