import { afterFrames, type Begun } from '../painted/after-frames.ts';
import { enterText } from '../painted/framed-text.ts';
import { joinText } from '../painted/join-text.ts';
import type { ReadingLimits } from '../painted/limits.ts';
import { findPainted } from '../painted/painted.ts';

/** Reads the painted text of the page in reading order. */
export function run(limits: ReadingLimits): Begun<{ readonly text: string; readonly partial: boolean }> {
  const found = findPainted(limits);
  return afterFrames(found, limits.frames, enterText(found), () => {
    const text = joinText(found.items);
    const ended = text === '' ? '' : `${text}\n`;
    const partial = found.partial || ended.length > limits.characters;
    return { text: ended.slice(0, limits.characters).toWellFormed(), partial };
  });
}
