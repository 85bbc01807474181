import { parentPort } from 'node:worker_threads';
import { compareLinks } from './compare-links.ts';
import { comparePixels } from './compare-pixels.ts';
import { compareTexts } from './compare-texts.ts';
import type { Pair, Task, ThreadAnswer, ThreadDifference } from './compared.ts';
import { decode } from './decode.ts';
import { drawRegions } from './draw-regions.ts';
import { type ComparedElements, compareElements } from './elements/compare-elements.ts';
import { placeRegions } from './elements/place-regions.ts';
import { withoutElements } from './elements/without-elements.ts';
import type { Pixels } from './pixels.ts';

/* Runs in a thread of its own: compares captures, one pair after the other. */

async function compare(task: Task): Promise<ThreadAnswer> {
  let inMemory: ThreadAnswer['inMemory'];
  const note = (reason: string | null) => {
    inMemory ??= reason;
  };
  const images = await decodeBoth(task, note);
  if (images === 'too_large') return { found: images, drawing: null, inMemory };
  const found = compareDecoded(task, images);
  const { visual } = found;
  const draws = task.draws && images !== null && visual !== null;
  const drawing = draws ? await drawRegions(...images, visual.regions, task.scratch?.drawing ?? null, note) : null;
  for (const { rows } of new Set(images)) rows.close();
  for (const file of new Set(task.images)) if (typeof file === 'object') file.buffer.transfer(0);
  return { found, drawing, inMemory };
}

function compareDecoded(task: Task, images: Pair<Pixels> | null): ThreadDifference {
  const { texts, links, maps, ignore, inAnyOrder, places } = task;
  const elements = maps && compareElements(maps, images, ignore, task.onlyElements);
  const visual = images && comparePixels(...images, ignore, elements);
  return {
    visual,
    text: texts && compareTexts(...painted(texts, elements), { ignored: ignore.texts, inAnyOrder }),
    links: links && compareLinks(...links, elements?.ignored ?? null),
    elements: elements?.difference ?? null,
    around: places && elements !== null && visual !== null ? placeRegions(visual.regions, elements) : [],
  };
}

async function decodeBoth(
  { images: files, scratch }: Task,
  note: (inMemory: string | null) => void,
): Promise<Pair<Pixels> | null | 'too_large'> {
  if (files === null) return null;
  const [before, after] = files;
  // Pages that did not change are compared most often: their image is decoded and kept once.
  const areBytes = before instanceof Uint8Array && after instanceof Uint8Array;
  const isSame = areBytes ? Buffer.compare(before, after) === 0 : before === after;
  // One after the other: decoding takes memory of its own.
  const a = await decode(before, scratch?.decoded[0] ?? null, note);
  if (a === null) return 'too_large';
  const other = isSame ? a : await decode(after, scratch?.decoded[1] ?? null, note);
  if (other !== null) return [a, other];
  a.rows.close();
  return 'too_large';
}

/** Returns the painted texts without those of ignored elements. */
function painted(texts: Pair<string>, elements: ComparedElements | null): Pair<string> {
  if (elements === null) return texts;
  const { trees, ignored } = elements;
  return [withoutElements(texts[0], trees.a, ignored.a), withoutElements(texts[1], trees.b, ignored.b)];
}

parentPort?.on('message', (task: Task) => {
  compare(task).then(
    (answer) => {
      const { drawing } = answer;
      parentPort?.postMessage(answer, drawing instanceof Uint8Array ? [drawing.buffer] : []);
    },
    // Ends the thread, which tells the caller.
    (error: unknown) => setImmediate(() => Promise.reject(error)),
  );
});
