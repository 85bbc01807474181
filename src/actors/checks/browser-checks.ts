import type { BrowserEndCause } from '../../capture/events.ts';
import type { BrowserHost } from '../browser-host.ts';
import { FloodWatch } from './flood-watch.ts';
import { checkMemory, type MemoryBounds } from './memory-watch.ts';

/** Interval between memory checks, in milliseconds. */
const MEMORY_CHECK_MS = 1_000;
/** Interval between checks for a page that floods the browser, in milliseconds. */
const FLOOD_CHECK_MS = 250;
/** Interval between heartbeats, in milliseconds. */
const HEARTBEAT_MS = 2_000;
/**
 * Time limits for the answer of a browser to a heartbeat, in milliseconds: more patience with a page that is alone, as
 * `flood-watch.ts` has. Measured: a browser that draws 16,383 rows of noise as a WebP does not answer for 3.7 s on two
 * idle cores.
 */
const SHARED_ANSWER_MS = 8_000;
const ALONE_ANSWER_MS = 20_000;

const FLOODED: Ending = { cause: 'hang', reason: 'it hung: pages flooded it with messages, so it was killed' };
const FAR_TOO_LARGE: Ending = { cause: 'memory', reason: 'it took too much memory, so it was killed' };
const TOO_LARGE: Ending = { cause: 'memory', reason: 'it takes too much memory' };

/** Cause of the end of a browser, and a human-readable `reason`. */
export interface Ending {
  readonly cause: BrowserEndCause;
  readonly reason: string;
}

interface BrowserChecksOptions {
  readonly host: BrowserHost;
  /** Whether the browser serves one capture. */
  readonly alone: boolean;
  readonly memory: MemoryBounds;
  /** Whether the browser has captures; it is not checked without any. */
  readonly isInUse: () => boolean;
  /** Called when the browser must be killed. */
  readonly kill: (ending: Ending) => void;
  /** Called when the browser must be replaced after its captures. */
  readonly retire: (ending: Ending) => void;
}

/**
 * Checks at intervals whether a browser answers, is flooded, or takes too much memory. Returns a function that stops
 * the checks.
 */
export function startChecks({ host, alone, memory, isInUse, kill, retire }: BrowserChecksOptions): () => void {
  const floodWatch = new FloodWatch(host, alone);
  const answerMs = alone ? ALONE_ANSWER_MS : SHARED_ANSWER_MS;
  let isMeasuring = false;

  async function checkPulse(): Promise<void> {
    if (!isInUse() || (await host.answersWhenItRuns(answerMs))) return;
    kill({ cause: 'hang', reason: `it hung: no answer within ${answerMs} ms, so it was killed` });
  }

  async function checkFloods(): Promise<void> {
    if (isInUse() && (await floodWatch.check(FLOOD_CHECK_MS))) kill(FLOODED);
  }

  async function measure(): Promise<void> {
    if (!isInUse() || isMeasuring) return;
    isMeasuring = true;
    const verdict = await checkMemory(host, memory).finally(() => {
      isMeasuring = false;
    });
    if (verdict === 'kill') kill(FAR_TOO_LARGE);
    if (verdict === 'retire') retire(TOO_LARGE);
  }

  const timers = [
    setInterval(() => void checkPulse(), HEARTBEAT_MS).unref(),
    setInterval(() => void checkFloods(), FLOOD_CHECK_MS).unref(),
    setInterval(() => void measure(), MEMORY_CHECK_MS).unref(),
  ];
  return () => {
    for (const timer of timers) clearInterval(timer);
  };
}
