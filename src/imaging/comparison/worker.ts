import { parentPort } from 'node:worker_threads';
import { compareLinks } from './compare-links.ts';
import { comparePixels } from './compare-pixels.ts';
import { compareTexts } from './compare-texts.ts';
import type { Compared, ThreadAnswer } from './compared.ts';
import { decode } from './decode.ts';
import { drawRegions } from './draw-regions.ts';

/* Runs in a thread of its own: compares captures, one pair after the other. */

async function compare({ images, texts, links, ignore, inAnyOrder, draws }: Compared): Promise<ThreadAnswer> {
  const [a, b] = images === null ? [] : await Promise.all([decode(images[0]), decode(images[1])]);
  if (a === null || b === null) return 'too_large';
  const picture = a === undefined || b === undefined ? null : comparePixels(a, b, ignore);
  const isDrawn = draws && a !== undefined && b !== undefined && picture !== null;
  return {
    picture,
    text: texts && compareTexts(...texts, { ignored: ignore.texts, inAnyOrder }),
    links: links && compareLinks(...links),
    drawing: isDrawn ? await drawRegions(a, b, picture.regions) : null,
  };
}

parentPort?.on('message', (captures: Compared) => {
  compare(captures).then(
    (answer) => parentPort?.postMessage(answer),
    // Ends the thread, which tells the caller.
    (error: unknown) => setImmediate(() => Promise.reject(error)),
  );
});
