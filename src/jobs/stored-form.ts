import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import type { Client } from '../capture/client.ts';
import type { BatchItem, CaptureOutcome } from '../capture/outcome.ts';
import type { CaptureRequest } from '../capture/request.ts';
import type { ScanSettings } from '../capture/work/scan.ts';
import { requestFromStore, requestToStore, type StoredRequest } from '../capture/work/stored-request.ts';
import type { JobItem } from '../storage/ports/job-store.ts';

const compress = promisify(gzip);
const decompress = promisify(gunzip);

/** Options of a batch or scan. */
export interface JobOptions {
  readonly concurrency?: number | undefined;
  /** URL that is notified when the batch ends, or, if a stop of the service divides the batch, when each part ends. */
  readonly callback?: string | undefined;
  /** Names of receivers that are told of its end. */
  readonly notify?: readonly string[] | undefined;
  /** Of a scan: how the targets of its list are captured. */
  readonly scan?: ScanSettings | undefined;
  /** The client that the job belongs to. */
  readonly by?: Client | undefined;
}

/** The stored content of a job: everything that a process needs to run it. */
export interface Work extends JobOptions {
  /** Of a scan: one, of which each capture has the options. Its targets are in the job's list. */
  readonly requests: readonly CaptureRequest[];
}

interface StoredWork extends JobOptions {
  readonly requests: readonly StoredRequest[];
}

export function packWork(work: Work): Promise<Uint8Array> {
  return compress(JSON.stringify({ ...work, requests: work.requests.map(requestToStore) }));
}

/** Reads work written by `packWork`. */
export async function unpackWork(bytes: Uint8Array): Promise<Work> {
  const work: StoredWork = JSON.parse((await decompress(bytes)).toString());
  return { ...work, requests: work.requests.map(requestFromStore) };
}

export function packItem({ index, url, outcome }: BatchItem): JobItem {
  const code = 'failure' in outcome ? outcome.failure.code : undefined;
  return { index, failed: outcome.state !== 'stored', code, body: JSON.stringify({ url, outcome: shown(outcome) }) };
}

/** Leaves out evidence and words, which no answer shows and the capture's record has. */
function shown(outcome: CaptureOutcome): CaptureOutcome {
  return outcome.state === 'stored' ? { state: 'stored', result: outcome.result, evidence: null } : outcome;
}

/** Reads an item written by `packItem`. */
export function unpackItem({ index, body }: JobItem): BatchItem {
  const { url, outcome }: Pick<BatchItem, 'url' | 'outcome'> = JSON.parse(body);
  return { index, url, outcome };
}
