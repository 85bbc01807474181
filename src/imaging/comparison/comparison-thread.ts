import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { errorText } from '../../capture/basics/error-text.ts';
import { MAX_COMPARED_PIXELS } from '../../capture/comparison/comparison.ts';
import { CapstanError } from '../../capture/errors.ts';
import { REQUEST_LIMITS } from '../../capture/request-limits.ts';
import { threadModule } from '../../own-files.ts';
import type { Compared, Task, ThreadAnswer, ThreadDifference } from './compared.ts';

/** Measured on a busy machine: 9-21 s for noise of 1,280 by 20,000 pixels, up to 2 s for a page of 1,280 by 16,384. */
const TIMEOUT_MS = 30_000;
/**
 * Time limit with element maps. A page decides how many elements overlap, and how deep they are. Measured, on a busy
 * machine: pages of 1,280 by 16,384 take at most 2 s.
 */
const MAPS_TIMEOUT_MS = 1000 * REQUEST_LIMITS.comparison.max;
/** The images are outside of the heap. */
const MAX_HEAP_MB = 256;
/**
 * New objects are kept until there are as many. Measured: with V8's own limit, a comparison by 5,000 elements and links
 * adds 154 MiB and four of them 233 MiB; with this one 94 and 109 MiB, in the same time.
 */
const MAX_YOUNG_MB = 6;
/** Time after which a thread without work ends, which returns its memory. */
const IDLE_MS = 30_000;

export interface ThreadOptions {
  /** Time limit with element maps, in milliseconds. @default 10000 */
  readonly mapsTimeoutMs?: number;
  /** Called with the reason when large images are decoded in memory, once until one is decoded into a file again. */
  readonly onProblem?: (reason: string) => void;
}

/**
 * The thread of comparisons, which starts with the first one and does one at a time. `staging` resolves with a
 * private directory for large decoded images; if it rejects, they are decoded in memory.
 */
export function createComparisonThread(
  staging: () => Promise<string>,
  { mapsTimeoutMs = MAPS_TIMEOUT_MS, onProblem = () => {} }: ThreadOptions = {},
) {
  let thread: Worker | undefined;
  let idle: NodeJS.Timeout | undefined;
  /** Resolves when the thread before has ended, with the image that it was decoding. */
  let ended: Promise<unknown> | undefined;
  let problem: string | null = null;

  const end = (): void => {
    clearTimeout(idle);
    ended = thread?.terminate() ?? ended;
    thread = undefined;
  };

  const note = (next: string | null): void => {
    if (next !== null && problem === null) onProblem(next);
    problem = next;
  };

  const filesFor = async (): Promise<Task['decoded']> => {
    try {
      const name = join(await staging(), `compared-${randomUUID()}`);
      return [`${name}-a.v`, `${name}-b.v`];
    } catch (error) {
      note(errorText(error));
      return null;
    }
  };

  const inThread = (task: Task) =>
    new Promise<ThreadDifference>((resolve, reject) => {
      clearTimeout(idle);
      thread ??= startThread();
      const used = thread;
      const timeoutMs = task.maps === null ? TIMEOUT_MS : mapsTimeoutMs;
      const tooLong = setTimeout(() => {
        reject(new CapstanError('comparison_too_large', `The comparison took more than ${timeoutMs / 1000} s.`));
        end();
      }, timeoutMs);
      tooLong.unref();
      const onMessage = ({ found, inMemory }: ThreadAnswer): void => {
        finish();
        idle = setTimeout(end, IDLE_MS);
        idle.unref();
        if (inMemory !== undefined) note(inMemory);
        if (found !== 'too_large') resolve(found);
        else {
          const reason = `Images of at most ${MAX_COMPARED_PIXELS} pixels are compared.`;
          reject(new CapstanError('comparison_too_large', reason));
        }
      };
      // A failed thread exits later; the next comparison must not use it.
      const onError = (error: unknown): void => {
        finish();
        if (thread === used) end();
        reject(error);
      };
      const onExit = (code: number): void => onError(new Error(`the thread of the comparisons ended with ${code}`));
      const finish = (): void => {
        clearTimeout(tooLong);
        used.off('message', onMessage).off('error', onError).off('exit', onExit);
      };
      used.once('message', onMessage);
      used.once('error', onError);
      used.once('exit', onExit);
      used.postMessage(
        task,
        (task.images ?? []).map(({ buffer }) => buffer),
      );
    });

  return {
    /** Compares two captures. Their images are handed over to the thread, and cannot be read afterwards. */
    compare: async (captures: Compared): Promise<ThreadDifference> => {
      const decoded = captures.images === null ? null : await filesFor();
      await ended;
      try {
        return await inThread({ ...captures, decoded });
      } finally {
        // A thread that is ended may still create a file.
        await ended;
        for (const file of decoded ?? []) await rm(file, { force: true });
      }
    },
  };
}

function startThread(): Worker {
  const thread = new Worker(threadModule('imaging/comparison/worker'), {
    execArgv: ['--disable-warning=ExperimentalWarning'],
    resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB, maxYoungGenerationSizeMb: MAX_YOUNG_MB },
  });
  // A service that stops does not wait for a comparison.
  thread.unref();
  return thread;
}
