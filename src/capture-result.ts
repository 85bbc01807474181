import type { CaptureCommand, IpFacts, Result, Snapshot } from './domain.ts';
import type { Failure } from './errors.ts';

/** When a capture began and how long it took. */
export interface Timing {
  /** Milliseconds since the Unix epoch. */
  readonly startedAt: number;
  readonly durationMs: number;
}

/** The record of a capture that succeeded. */
export function storedResult(
  command: CaptureCommand,
  snapshot: Snapshot,
  ipFacts: IpFacts | null,
  timing: Timing,
): Result {
  return {
    ...asked(command, timing),
    final_url: snapshot.finalUrl,
    title: snapshot.title,
    response_code: snapshot.responseCode,
    response_reason: snapshot.responseReason,
    content_type: snapshot.contentType,
    content_length: snapshot.contentLength,
    // Where they are is told by who keeps them.
    screenshot: '',
    html: '',
    width: snapshot.width,
    height: snapshot.height,
    truncated: snapshot.truncated,
    partial: snapshot.partial,
    failed: false,
    failed_reason: '',
    failed_code: '',
    remote_ip: snapshot.remoteIp,
    ip_info: ipFacts,
  };
}

/** The record of a capture that failed. */
export function failedResult(command: CaptureCommand, { code, reason }: Failure, timing: Timing): Result {
  return {
    ...asked(command, timing),
    final_url: '',
    title: '',
    response_code: 0,
    response_reason: '',
    content_type: '',
    content_length: 0,
    screenshot: '',
    html: '',
    width: 0,
    height: 0,
    truncated: false,
    partial: false,
    failed: true,
    failed_reason: reason,
    failed_code: code,
    remote_ip: null,
    ip_info: null,
  };
}

function asked({ id, request }: CaptureCommand, { startedAt, durationMs }: Timing) {
  return {
    id,
    url: request.url,
    ...targetOf(new URL(request.url)),
    probed_at: new Date(startedAt).toISOString(),
    duration_ms: Math.round(durationMs),
    format: request.format,
  };
}

function targetOf({ protocol, hostname, port }: URL): Pick<Result, 'scheme' | 'host' | 'port'> {
  const scheme = protocol.slice(0, -1);
  return { scheme, host: hostname.replace(/^\[|\]$/g, ''), port: Number(port) || (scheme === 'https' ? 443 : 80) };
}
