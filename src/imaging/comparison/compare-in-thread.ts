import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import { MAX_COMPARED_PIXELS } from '../../capture/comparison.ts';
import { CapstanError } from '../../capture/errors.ts';
import type { Compared, ThreadDifference } from './compared.ts';

/** Measured, on a busy machine: noise of 1,280 by 20,000 pixels takes 9 to 21 s, a page of 1,280 by 16,384 at most 2 s. */
const TIMEOUT_MS = 30_000;
/** The images are outside of the heap. */
const MAX_HEAP_MB = 256;

/**
 * Compares two captures in a thread of its own, which ends with the comparison or with its time. The images are handed
 * over to the thread, and cannot be read afterwards.
 */
export function compareInThread(compared: Compared): Promise<ThreadDifference> {
  return new Promise((resolve, reject) => {
    // The thread's file is TypeScript in a checkout and JavaScript in an installed package.
    const worker = new Worker(new URL(`./worker${extname(import.meta.url)}`, import.meta.url), {
      workerData: compared,
      transferList: compared.images.map(({ buffer }) => buffer),
      execArgv: ['--disable-warning=ExperimentalWarning'],
      resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB },
    });
    const timer = setTimeout(() => {
      reject(new CapstanError('comparison_too_large', `The comparison took more than ${TIMEOUT_MS / 1000} s.`));
      void worker.terminate();
    }, TIMEOUT_MS);
    // A service that stops does not wait for a comparison.
    worker.unref();
    timer.unref();
    worker.once('message', (difference: ThreadDifference | null) => {
      if (difference !== null) resolve(difference);
      else
        reject(
          new CapstanError('comparison_too_large', `Images of at most ${MAX_COMPARED_PIXELS} pixels are compared.`),
        );
    });
    worker.once('error', reject);
    worker.once('exit', (code) => {
      clearTimeout(timer);
      reject(new Error(`the thread of the comparison ended with ${code}`));
    });
  });
}
