import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { Worker } from 'node:worker_threads';
import { errorText } from '../../capture/basics/error-text.ts';
import { openWithSize } from '../../capture/basics/open-with-size.ts';
import { MAX_COMPARED_PIXELS } from '../../capture/comparison/comparison.ts';
import { CapstanError } from '../../capture/errors.ts';
import { REQUEST_LIMITS } from '../../capture/request-limits.ts';
import { threadModule } from '../../own-files.ts';
import type { ReadableFile } from '../../storage/ports/artifact-store.ts';
import type { Compared, File, Pair, ScratchFiles, Task, ThreadAnswer, ThreadDifference } from './compared.ts';
import { placeImage } from './place-image.ts';

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
  /** Called with the reason when large images are in memory, not again until an image was decoded into a file. */
  readonly onProblem?: (reason: string) => void;
}

/** The differences, and the drawing of both images if it was wanted. */
interface Drawn extends ThreadDifference {
  readonly drawing: ReadableFile | null;
}

/** Files of a comparison, which are removed when it has ended. */
interface Scratch extends ScratchFiles {
  /** Copies of large image files. */
  readonly images: Pair<string>;
}

/**
 * The thread of comparisons, which starts with the first one and does one at a time. `staging` resolves with a
 * private directory for large images. Images that cannot be written there are kept in memory.
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

  const scratchFiles = async (): Promise<Scratch | null> => {
    try {
      const name = join(await staging(), `compared-${randomUUID()}`);
      return { images: [`${name}-a`, `${name}-b`], decoded: [`${name}-a.v`, `${name}-b.v`], drawing: `${name}.png` };
    } catch (error) {
      note(errorText(error));
      return null;
    }
  };

  const inThread = (task: Task) =>
    new Promise<ThreadDifference & Pick<ThreadAnswer, 'drawing'>>((resolve, reject) => {
      clearTimeout(idle);
      thread ??= startThread();
      const used = thread;
      const timeoutMs = task.maps === null ? TIMEOUT_MS : mapsTimeoutMs;
      const tooLong = setTimeout(() => {
        reject(new CapstanError('comparison_too_large', `The comparison took more than ${timeoutMs / 1000} s.`));
        end();
      }, timeoutMs);
      tooLong.unref();
      const onMessage = ({ found, drawing, inMemory }: ThreadAnswer): void => {
        finish();
        idle = setTimeout(end, IDLE_MS);
        idle.unref();
        if (inMemory !== undefined) note(inMemory);
        if (found !== 'too_large') resolve({ ...found, drawing });
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
      const inMemory = new Set(
        (task.images ?? []).flatMap((image) => (typeof image === 'string' ? [] : [image.buffer])),
      );
      used.postMessage(task, [...inMemory]);
    });

  return {
    /**
     * Compares two captures. Images in memory are handed over to the thread, and cannot be read afterwards.
     * Files are closed. The caller must stream or close the drawing.
     */
    compare: async ({ images, ...captures }: Compared): Promise<Drawn> => {
      const scratch = images === null ? null : await scratchFiles();
      await ended;
      try {
        const { drawing, ...found } = await inThread({
          ...captures,
          images: images && (await placed(images, scratch)),
          scratch,
        });
        return { ...found, drawing: drawing === null ? null : await readable(drawing) };
      } finally {
        for (const image of images ?? []) if (!(image instanceof Uint8Array)) await image.close();
        // A thread that is ended may still create a file.
        await ended;
        const { images: copies = [], decoded = [], drawing = [] } = scratch ?? {};
        for (const file of [copies, decoded, drawing].flat()) await rm(file, { force: true });
      }
    },
  };

  async function placed([before, after]: NonNullable<Compared['images']>, scratch: Scratch | null) {
    const a = await placeImage(before, scratch?.images[0] ?? null, note);
    return [a, before === after ? a : await placeImage(after, scratch?.images[1] ?? null, note)] as const;
  }
}

/** Opens a drawing. The open file stays readable after it is removed. */
async function readable(drawing: File | string): Promise<ReadableFile> {
  if (typeof drawing !== 'string') {
    return { bytes: drawing.length, stream: () => Readable.from([drawing]), close: async () => {} };
  }
  const { file, bytes } = await openWithSize(drawing);
  return { bytes, stream: () => file.createReadStream(), close: () => file.close() };
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
