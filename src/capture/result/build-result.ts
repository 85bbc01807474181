import { OUTPUT_KINDS } from '../artifacts/artifacts.ts';
import { ofKey } from '../client.ts';
import type { CaptureCommand } from '../command.ts';
import type { CapstanError } from '../errors.ts';
import { NO_MARKS } from '../finding/marks.ts';
import { optionsDigest } from '../options/options-digest.ts';
import { recordedOptions } from '../options/recorded-options.ts';
import type { CaptureRequest } from '../request.ts';
import { portOf, type Target, targetOf } from '../target.ts';
import type { Technology } from './host-facts.ts';
import type { IpFacts, Result } from './result.ts';
import type { Outputs, Snapshot } from './snapshot.ts';

/** Maximum size of extracted values, as JSON, that a record carries besides their file. */
const MAX_INLINE_BYTES = 4096;

/** Start time and duration of a capture. */
export interface Timing {
  /** Milliseconds since the Unix epoch. */
  readonly startedAt: number;
  readonly durationMs: number;
}

/** Facts that are found out after the browser has captured the page. */
export interface Findings {
  readonly ipFacts: IpFacts | null;
  readonly perceptionHash: string | null;
  /** Aliases that led to the address of the final URL's host. */
  readonly cnames: readonly string[];
  readonly technologies: readonly Technology[];
}

/** Values of a record's fields when the page was not captured. */
export const UNSEEN = {
  final_url: '',
  title: '',
  response_code: 0,
  response_reason: '',
  content_type: '',
  content_length: 0,
  // Set by the capture store.
  artifacts: null,
  outputs: [],
  extract: null,
  width: 0,
  height: 0,
  truncated: false,
  truncated_by: '',
  full_height: 0,
  partial: false,
  partial_phase: '',
  timings: {},
  protocol: '',
  failed: false,
  failed_reason: '',
  failed_code: '',
  download: null,
  perception_hash: null,
  banner: null,
  verdict: null,
  verdict_confidence: 0,
  verdict_reasons: [],
  cached: false,
  remote_ip: null,
  host_facts: null,
  ip_info: null,
  ...NO_MARKS,
} as const satisfies Partial<Result>;

/** Returns the record of a capture that succeeded. */
export function storedResult(
  command: CaptureCommand,
  snapshot: Snapshot,
  { ipFacts, perceptionHash, cnames, technologies }: Findings,
  timing: Timing,
): Result {
  const { target } = command.request;
  return {
    ...asked(command, timing, fetchedTarget(target, snapshot.url)),
    ...UNSEEN,
    ...marksOf(command.request),
    final_url: snapshot.finalUrl,
    title: snapshot.title,
    response_code: snapshot.responseCode,
    response_reason: snapshot.responseReason,
    content_type: snapshot.contentType,
    content_length: snapshot.contentLength,
    outputs: storedOutputs(snapshot.outputs),
    extract: smallValues(snapshot.outputs),
    width: snapshot.width,
    height: snapshot.height,
    truncated: snapshot.truncated,
    truncated_by: snapshot.truncatedBy,
    full_height: snapshot.fullHeight,
    partial: snapshot.cutPhase !== null,
    partial_phase: snapshot.cutPhase ?? '',
    timings: { ...(command.dialled && { dial: Math.round(command.dialled.ms) }), ...snapshot.timings },
    protocol: snapshot.protocol,
    perception_hash: perceptionHash,
    banner: snapshot.banner,
    verdict: snapshot.verdict?.name ?? null,
    verdict_confidence: snapshot.verdict?.confidence ?? 0,
    verdict_reasons: snapshot.verdict?.reasons ?? [],
    remote_ip: snapshot.remoteIp,
    host_facts: snapshot.hostFacts && { ...snapshot.hostFacts, cnames, technologies },
    ip_info: ipFacts,
  };
}

/** Returns the record of a capture that failed. */
export function failedResult(command: CaptureCommand, error: CapstanError, timing: Timing): Result {
  return {
    ...asked(command, timing, fetchedTarget(command.request.target, error.fetchedUrl)),
    ...UNSEEN,
    ...marksOf(command.request),
    response_code: error.responseCode ?? 0,
    content_type: error.download?.type ?? '',
    content_length: error.download?.bytes ?? 0,
    failed: true,
    failed_reason: error.message,
    failed_code: error.code,
    download: error.download ?? null,
  };
}

function marksOf({ labels = [], note = '' }: CaptureRequest): Pick<Result, 'labels' | 'note'> {
  return { labels, note };
}

function storedOutputs(outputs: Outputs): Result['outputs'] {
  return OUTPUT_KINDS.flatMap((name) => {
    const output = outputs[name];
    if (output === undefined) return [];
    if (output === null) return [{ name, bytes: 0, partial: true }];
    return [{ name, bytes: Buffer.byteLength(output.content), partial: output.partial }];
  });
}

/** Returns the extracted values when they are few enough for lists and events, which carry the record. */
function smallValues({ extract }: Outputs): Result['extract'] {
  if (extract == null || Buffer.byteLength(extract.content) > MAX_INLINE_BYTES) return null;
  return JSON.parse(String(extract.content));
}

function fetchedTarget(target: Target, url = target.url): Target {
  return url === target.url ? target : targetOf(url);
}

function asked({ id, request, apiKeyName }: CaptureCommand, { startedAt, durationMs }: Timing, target: Target) {
  return {
    id,
    url: target.url,
    scheme: target.parsed.protocol.slice(0, -1),
    host: target.host,
    port: portOf(target.parsed),
    probed_at: new Date(startedAt).toISOString(),
    duration_ms: Math.round(durationMs),
    format: request.format,
    options_digest: optionsDigest(request),
    ...recordedOptions(request),
    ...(request.scan !== undefined && { scan: request.scan }),
    ...ofKey(apiKeyName),
  };
}
