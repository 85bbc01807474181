import { parentPort, workerData } from 'node:worker_threads';
import { compareLinks } from './compare-links.ts';
import { comparePixels } from './compare-pixels.ts';
import { compareTexts } from './compare-texts.ts';
import type { Compared, ThreadDifference } from './compared.ts';
import { decode } from './decode.ts';

/* Runs in a thread of its own: compares two captures, and sends the difference, or null when an image is too large. */

const { images, texts, links, ignore, inAnyOrder }: Compared = workerData;
const a = await decode(images[0]);
const b = a === null ? null : await decode(images[1]);
const difference: ThreadDifference | null =
  a === null || b === null
    ? null
    : {
        ...comparePixels(a, b, ignore),
        text: texts && compareTexts(...texts, { ignored: ignore.texts, inAnyOrder }),
        links: links && compareLinks(...links),
      };
parentPort?.postMessage(difference);
