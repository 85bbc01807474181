import { setTimeout as delay } from 'node:timers/promises';
import type { Ground, RunOptions, Served } from '../../test/commands/capstan-process.ts';
import { type Answered, type AnsweredResult, capture, untilAccepted } from '../../test/faults/client.ts';
import type { SmallDisk } from '../../test/faults/tmpfs.ts';
import type { Site } from '../../test/fixtures/site.ts';

/** Resources of a service that runs as a process of its own. */
export interface ProcessSurroundings {
  readonly place: Ground;
  readonly site: Site;
  /** The file system of database, data directory and log; undefined when none could be mounted. */
  readonly disk: SmallDisk | undefined;
}

/** A fault that is caused while the service runs as a process of its own. */
export interface ProcessFault {
  readonly name: string;
  /** Returns why the fault cannot be caused here; undefined when it can. */
  whyNot?(surroundings: ProcessSurroundings): string | undefined;
  /** Prepares the fault before the service is started. */
  prepare(surroundings: ProcessSurroundings): Promise<PreparedFault>;
}

export interface PreparedFault extends AsyncDisposable {
  /** Arguments and options of `capstan serve` beside the usual ones. */
  readonly args?: readonly string[];
  readonly options?: RunOptions;
  /** Causes the fault, captures pages during it, records the answers, and ends the fault. */
  run(service: Served, answers: Answers): Promise<void>;
}

/** Number of captures during each fault. */
export const CAPTURES_BESIDE = 6;
/** Time limit for the service to recover from a fault. */
const RECOVERY_MS = 30_000;

/** Answers of the service in all rounds. */
export class Answers {
  /** Every answered record, including those of failed captures. */
  readonly records: AnsweredResult[] = [];
  /** Unexpected answers. */
  readonly problems: string[] = [];
  /** Number of answers by error code; `''` is success. */
  readonly codes = new Map<string, number>();

  note({ code, result }: Pick<Answered, 'code' | 'result'>): void {
    this.codes.set(code, (this.codes.get(code) ?? 0) + 1);
    if (result !== null) this.records.push(result);
  }

  /** Captures a page and checks the answer. */
  async capture(serviceUrl: string, url: string, codes?: readonly string[]): Promise<void> {
    this.check(url, await untilAccepted(() => capture(serviceUrl, { url })), codes);
  }

  /** Records an answer. A code that is not in `codes`, and a capture cut by its deadline, are problems. */
  check(url: string, answer: Answered, codes: readonly string[] = ['']): void {
    this.note(answer);
    if (!codes.includes(answer.code)) this.problems.push(`${url}: ${answer.status} ${answer.code}`);
    if (answer.result?.partial === true) {
      this.problems.push(`${url}: partial, cut in the phase ${answer.result.partial_phase}`);
    }
  }
}

/** Resolves when a condition holds. A request that fails counts as false. Rejects after 30 s. */
export async function recovered(what: string, holds: () => Promise<boolean>): Promise<void> {
  for (const until = performance.now() + RECOVERY_MS; !(await holds().catch(() => false)); await delay(50)) {
    if (performance.now() > until) throw new Error(`${what} after ${RECOVERY_MS / 1000} s`);
  }
}

/** Resolves when the service answers on a new connection. */
export function answering({ url }: Served): Promise<void> {
  return recovered('the service does not answer', async () => (await fetch(`${url}/livez`)).ok);
}

/** The capture of a hostile page. Its answer does not matter; disposing aborts the request. */
export interface HostileCapture extends AsyncDisposable {
  /** Resolves when a condition holds. Rejects after 30 s, and when the answer comes before. */
  until(what: string, holds: () => Promise<boolean>): Promise<void>;
}

/** Sends `POST /screenshot` for a hostile page, with the longest time that a capture may have. */
export function hostileCapture({ url: serviceUrl }: Served, url: string): HostileCapture {
  const leaving = new AbortController();
  const answer = fetch(`${serviceUrl}/screenshot`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ url, timeoutMs: 60_000 }),
    signal: leaving.signal,
  }).then(async (response) => `${response.status} ${await response.text()}`, String);
  return {
    until: async (what, holds) => {
      const early = answer.then(async (text) => {
        if (!(await holds())) throw new Error(`${what} before its answer: ${text}`);
      });
      await Promise.race([recovered(what, holds), early]);
    },
    async [Symbol.asyncDispose]() {
      leaving.abort();
      await answer;
    },
  };
}
